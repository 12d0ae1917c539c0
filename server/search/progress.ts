// The progress of the background indexing. Stored, so that it survives restarts and every instance knows it.
import { z } from 'zod'
import type { CharacterMatch } from '../db/search-entries.ts'
import { PROGRESS_KEYS } from '../db/search-progress.ts'
import type { Store } from '../db/store.ts'

/** `from`: the newest message when the pass began. `next`: where it continues; 0 when it is done. */
export const Progress = z.object({ from: z.int().min(0), next: z.int().min(0) })
/** How far a pass of the indexer is. */
export type Progress = z.infer<typeof Progress>

/** A pass of the indexer over the stored messages. */
export type Pass = keyof typeof PROGRESS_KEYS

/** Reports how far indexing is. */
export interface IndexProgress {
  /** Share of the stored messages that can be found, from 0 to 1; 0 until the indexing has begun. */
  share(): Promise<number>
  /** How the index answers single characters. */
  characters(): Promise<CharacterMatch>
}

/** Create one per process: it remembers what is done. */
export function createIndexProgress({ settings }: Pick<Store, 'settings'>): IndexProgress {
  /** A finished pass stays finished, so its progress is not read again. */
  const done = new Set<Pass>()

  async function share(pass: Pass): Promise<number> {
    if (done.has(pass)) return 1
    const progress = await settings.get(PROGRESS_KEYS[pass], Progress)
    if (progress === undefined) return 0
    if (progress.next === 0) done.add(pass)
    return progress.next === 0 ? 1 : 1 - progress.next / progress.from
  }

  return {
    share: () => share('missing'),
    characters: async () => ((await share('characters')) === 1 ? 'word' : 'beginning'),
  }
}
