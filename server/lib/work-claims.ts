// Who does work that must be done once, when several instances share a store.

export interface WorkClaims {
  /** Takes the work. False while another living instance has it. */
  claim(name: string): Promise<boolean>
  /** The work is done, or given up. */
  finish(name: string): Promise<void>
  /** Whether other instances may be working on the same folders. */
  readonly isShared: boolean
}

/** A single process does everything itself. */
export const SOLE_WORKER: WorkClaims = {
  claim: async () => true,
  async finish() {},
  isShared: false,
}
