// The types of build-outdated.mjs, which runs before anything has compiled.

/** Builds the server and the page if they are outdated. Returns false if a build failed, after printing the reason. */
export function buildOutdated(): boolean
