"""One file per method, named as its class.

Modules
-------
_base/          What estimators share.
clustered_svm   CSVM: one linear SVM for each cluster, held together by a common one.
convex_lmkl     C-LMKL: localized multiple kernel learning as one convex problem.
cpsp            CPSP: a kernel machine of few basis vectors, which are learned.
dcpred          DC-Pred++: cells, and in each a few Gaussians with slopes.
forests/        Forests as gates, and forests of other libraries.
lasvm           LaSVM: a kernel machine that learns row by row.
ldkl            LDKL: a tree of linear splits with a linear model at every node.
ldmkl           LD-MKL: every kernel votes where it expects to be right.
llc_sapl        LLC-SAPL: anchors learned together with the local models.
llsvm           LLSVM and LCC+SVM: a convex problem once the anchors stand.
lmkl            LMKL: localized multiple kernel learning with a gate that is learned.
mllkm           MLLKM: few locally linear kernels, chosen from one around every training row.
mwu_mkl         MWUMKL: multiple kernel learning from Gram columns alone.
samkl           SAMKL: kernels switched on and off for every row.
sequential_mkl  SequentialMKL: many candidate kernels, few in work.
simple_mkl      SimpleMKL: a sparse mixture of kernels.
spg_gmkl        SPG-GMKL: kernel weights with a penalty.
svm_knn         SVM-KNN: a support vector machine among the neighbors of each query.
swmkl           SwMKL: kernels blended by how often each alone is right around a row.
uniform_mkl     The mean of several kernels: the baseline of multiple kernel learning.
"""
