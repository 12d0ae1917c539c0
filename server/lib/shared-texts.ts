// Texts that the instances of a store share for a while. A lost text only has to be computed again.

/** Texts that instances share for some time. */
export interface SharedTexts {
  /** Undefined if no instance has stored it, or it cannot be read in time. Never rejects. */
  get(key: string): Promise<string | undefined>
  /** Stores it for `lifetimeMs`, unless it is too long. Not awaited. */
  set(key: string, text: string, lifetimeMs: number): void
}
