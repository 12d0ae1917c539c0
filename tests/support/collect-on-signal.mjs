// Collects garbage when the process gets SIGUSR2, so that a test can tell memory that is held from memory that is free:
// `node --expose-gc --import …/collect-on-signal.mjs`.
process.on('SIGUSR2', () => globalThis.gc())
