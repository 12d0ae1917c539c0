// Settings of the whole server that administrators change while it runs; they come before the configuration file.
import type { z } from 'zod'
import type { Store } from '../db/store.ts'
import { withoutAbsent } from '../lib/without-absent.ts'
import {
  type PatchServerSettings,
  type ServerSettings,
  StoredServerSettings,
} from '../protocol/administration.ts'

export interface ServerSettingsService {
  /** What is set and what applies now. Reads memory only. */
  current(): ServerSettings
  change(changes: Changes): Promise<ServerSettings>
}

/** An absent field stays unchanged. */
type Changes = z.output<typeof PatchServerSettings>

const KEY = 'server settings'
const NOTHING_SET: StoredServerSettings = {
  registration: null,
  sharing: null,
  model_order: [],
  hidden_models: [],
}

/** Reads the stored settings. One process serves a store, so it always knows them. */
export async function loadServerSettings(
  settings: Pick<Store['settings'], 'get' | 'put'>,
  configured: ServerSettings['effective'],
): Promise<ServerSettingsService> {
  let stored = (await settings.get(KEY, StoredServerSettings)) ?? NOTHING_SET
  const current = (): ServerSettings => ({
    ...stored,
    effective: {
      registration: stored.registration ?? configured.registration,
      sharing: stored.sharing ?? configured.sharing,
    },
  })
  return {
    current,
    async change(changes) {
      // Assigned before it is stored, so that two changes at once both take effect.
      stored = { ...stored, ...withoutAbsent(changes) }
      await settings.put(KEY, stored)
      return current()
    },
  }
}
