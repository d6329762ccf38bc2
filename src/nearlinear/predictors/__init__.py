"""What is left when training is over.

Modules
-------
base              What remains of a model after training.
component_scores  Scores of many machines that share support rows and kernels.
conformal_lanes   Rows under conformal kernels, many side by side.
conformal_linear  f_o(x) = b_o + Σ_p h_k(x) ⟨w_p, x − c_k⟩ over the terms p of output o.
gated             Components blended by a gate: sums, votes, and local linear models.
kernel_expansion  A machine that keeps its support rows: Σ_m Σ_j c_mj k_m(x_j, x) + b.
locally_linear    f(x) = Σ_j γ_j(x) (W_jᵀ x + b_j) with a sparse gate γ.
neighborhood_svm  A small SVM for each query, trained on its nearest neighbors when it is asked.
tree_forest       The mean of several trees.
tree_path         f(x) = b + Σ c_k(x) W_k [x; 1] over the nodes k on the path of x down a tree.
"""
