// Which runs this version of the program can continue.

/**
 * Increment it with every change after which an earlier version would misread what a run has stored (its state, options,
 * steps, timeline or requests). While two versions run side by side, the older one leaves such runs to the newer one.
 */
export const RUN_VERSION = 2
