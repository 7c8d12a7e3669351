# Sourced: `kernel_cases`, doctest's filter for the cases that run kernels, by their names, for the tools that watch them.
kernel_cases='races:*,simt:*,*kernel*,*device*,*barrier*,*block*,adam:*,loss_sum:*,products:*,softmax:*'
