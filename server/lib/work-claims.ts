// Who does work that must be done once, when several instances share a store.

/** Work that only one instance may do at a time. */
export interface WorkClaims {
  /** Takes the work. False while another living instance has it. */
  claim(name: string): Promise<boolean>
  /** The work is done, or given up. Never rejects: what could not be given back is given back later. */
  finish(name: string): Promise<void>
  /** Whether claimed work is still this instance's: false when another one has taken it during a pause of this one. */
  holds(name: string): Promise<boolean>
  /** Whether other instances may be working on the same folders. */
  readonly isShared: boolean
}

/** A single process does everything itself. */
export const SOLE_WORKER: WorkClaims = {
  claim: async () => true,
  async finish() {},
  holds: async () => true,
  isShared: false,
}
