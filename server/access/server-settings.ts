// Settings of the whole server that administrators change while it runs. They take precedence over the configuration file.

import pLimit from 'p-limit'
import type { z } from 'zod'
import type { Store } from '../db/store.ts'
import { withoutAbsent } from '../lib/without-absent.ts'
import { type Actor, auditedFields } from '../protocol/admin/audit.ts'
import {
  type PatchServerSettings,
  type ServerSettings,
  StoredServerSettings,
} from '../protocol/admin/server.ts'
import type { ApprovalMode } from '../protocol/conversations/conversation.ts'

/** The settings that administrators change while the server runs. */
export interface ServerSettingsService {
  /** The stored settings, and those that apply now. Reads memory only. */
  current(): ServerSettings
  /** The approval mode of conversations without one of their own. */
  defaultApproval(): ApprovalMode
  /** Reads the stored settings again, because another instance may have changed them. */
  reload(): Promise<void>
  /** Adds the audit entry, too. */
  change(changes: Changes, actor: Actor): Promise<ServerSettings>
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
  {
    settings,
    audit,
  }: { settings: Pick<Store['settings'], 'get' | 'update'>; audit: Pick<Store['audit'], 'record'> },
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
  // In memory, because every send needs them.
  let current = shown(await read())
  const set = (changed: StoredServerSettings): void => {
    current = shown(changed)
  }
  const oneByOne = pLimit(1)
  return {
    current: () => current,
    defaultApproval: () => current.effective.default_approval,
    async reload() {
      set(await read())
    },
    change: (changes, actor) =>
      oneByOne(async () => {
        const changed = await settings.update(
          KEY,
          StoredServerSettings,
          (before = NOTHING_SET) => ({ ...before, ...withoutAbsent(changes) }),
          (tx) =>
            audit.record(tx, actor, {
              action: 'settings_changed',
              at: new Date(),
              details: auditedFields(changes, null),
            }),
        )
        set(changed)
        return current
      }),
  }
}
