// Settings of the whole server that administrators change while it runs. They take precedence over the configuration file.
import type { z } from 'zod'
import type { Store } from '../db/store.ts'
import { withoutAbsent } from '../lib/without-absent.ts'
import {
  type PatchServerSettings,
  type ServerSettings,
  StoredServerSettings,
} from '../protocol/admin/server.ts'

/** The settings that administrators change while the server runs. */
export interface ServerSettingsService {
  /** The stored settings, and those that apply now. Reads memory only. */
  current(): ServerSettings
  /** Reads the stored settings again, because another instance may have changed them. */
  reload(): Promise<void>
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
  default_model: null,
  default_approval: null,
}

/** The stored settings of a database that is only inspected; undefined if none are stored. */
export async function inspectServerSettings(
  read: (key: string) => Promise<unknown>,
): Promise<StoredServerSettings | undefined> {
  return StoredServerSettings.safeParse(await read(KEY)).data
}

/** Reads the stored settings, which `current` then returns without a query. */
export async function loadServerSettings(
  settings: Pick<Store['settings'], 'get' | 'put'>,
  configured: ServerSettings['effective'],
): Promise<ServerSettingsService> {
  const read = async () => (await settings.get(KEY, StoredServerSettings)) ?? NOTHING_SET
  const shown = (stored: StoredServerSettings): ServerSettings => ({
    ...stored,
    configured,
    effective: {
      registration: stored.registration ?? configured.registration,
      sharing: stored.sharing ?? configured.sharing,
      default_model: stored.default_model ?? configured.default_model,
      default_approval: stored.default_approval ?? configured.default_approval,
    },
  })
  let stored = await read()
  // In memory, because every send needs them.
  let current = shown(stored)
  const set = (changed: StoredServerSettings): void => {
    stored = changed
    current = shown(stored)
  }
  return {
    current: () => current,
    async reload() {
      set(await read())
    },
    async change(changes) {
      // Applied before they are stored, so that two simultaneous changes both take effect.
      set({ ...stored, ...withoutAbsent(changes) })
      await settings.put(KEY, stored)
      return current
    },
  }
}
