"""What is left when training is over.

Modules
-------
additive          f(x) = b + ⟨w, x⟩ + Σ_d g_d(x_d).
averaged          The mean of several predictors.
base              What remains of a model after training.
combined          Predictors made of others: on mapped rows, side by side, exponentials.
conformal_lanes   Rows under conformal kernels, many side by side.
conformal_linear  f_o(x) = b_o + Σ_p h_k(x) ⟨w_p, x − c_k⟩ over the terms p of output o.
decay             exp(−u) of many numbers at once, for all that fades.
forest            f(x) = b + ⟨w, x⟩ + Σ_t ⟨w_l, z⟩, where l is the leaf of x in tree t.
gated_expansion   Kernel machines blended by a gate: f(x) = Σ_q γ_q(x) s(f_q(x)) + b.
gaussian_cells    f(x) = b_c + Σ_j exp(−γ‖x − u_j‖²) (o_j + ⟨s_j, x − u_j⟩).
gaussian_sums     Sums of Gaussians around vectors, many rows side by side.
hinges            f(x) = V max(0, Wx + t) + b, and the same with more layers.
kernel_expansion  Machines that keep their support rows: f_o(x) = Σ_m Σ_j c_mjo k_m(x_j, x) + b_o.
linked_tree       f(x) = b + Σ c_k(x) W_k [x.
locally_linear    f(x) = Σ_j γ_j(x) (W_jᵀ x + b_j) + b.
neighborhood_svm  A small SVM for each query, trained on its nearest neighbors when it is asked.
tree_leaves       f(x) = b + W_l [x; 1], where l is the leaf of x in a tree.
tree_path         f(x) = b + Σ c_k(x) W_k [x; 1] over the nodes k on the path of x down a tree.
"""
