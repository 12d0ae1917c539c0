// The types of build-outdated.mjs, which runs before anything has compiled.

/** Builds the server and, if `withPage`, the page if they are outdated. Returns false if a build failed, after printing why. */
export function buildOutdated(withPage?: boolean): boolean
