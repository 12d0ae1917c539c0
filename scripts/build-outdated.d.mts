// The types of build-outdated.mjs, which runs before anything has compiled.

/** Builds the server and the page where they are outdated. Returns false when a build failed, which has said why. */
export function buildOutdated(): boolean
