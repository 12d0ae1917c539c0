// `nanoclaw admin delete-user`: ends an account while the server is stopped.

import { type AccountEnd, endAccount } from '../administration/end-account.ts'
import { createPasswords } from '../auth/passwords.ts'
import { loadRules } from '../composition/base.ts'
import { createConfiguredWorkspace } from '../composition/workspace.ts'
import type { Config } from '../config/schema.ts'
import { transferFolder } from '../config/settings.ts'
import { createStore } from '../db/store.ts'
import { appError } from '../errors.ts'
import { COMMAND_LINE } from '../protocol/admin/audit.ts'
import { removeExports } from '../transfer/jobs.ts'
import { quiet, whileServerIsStopped } from './stopped-server.ts'

/**
 * @param heirName who receives the data; null: nobody.
 * @returns the lines to print.
 * @throws AppError when a server runs, and what `endAccount` throws.
 */
export async function deleteUser(
  config: Config,
  name: string,
  { keepsData, heirName }: { keepsData: boolean; heirName: string | null },
): Promise<string[]> {
  return whileServerIsStopped(config, 'delete-user', async (database) => {
    const store = createStore(database)
    const account = await store.users.findByName(name)
    if (account?.passwordHash == null) throw appError('account_not_found')
    const heir = heirName === null ? null : await store.users.findByName(heirName)
    if (heir === undefined) throw appError('account_not_found')
    const end: AccountEnd =
      heir === null ? { data: keepsData ? 'keep' : 'delete' } : { data: 'hand_over', heir: heir.id }
    const { access } = await loadRules(config, store)
    const workspace = await createConfiguredWorkspace({ config, store, access, log: quiet })
    try {
      await endAccount(
        {
          store,
          workspace,
          passwords: createPasswords(),
          knowledge: {
            async removeProject(projectId) {
              for (;;) {
                const { items } = await store.documents.list(projectId, { limit: 100 })
                if (items.length === 0) return
                for (const { id } of items) await store.documents.remove(projectId, id)
              }
            },
          },
          transfers: {
            removeExports: (id) => removeExports(store.transfers, transferFolder(config), id),
          },
          // The server is stopped, so nothing runs and nobody is connected. Runs that it left end at the next start.
          chat: { async stopProject() {}, async stopUser() {} },
          changes: { publish() {} },
          connections: { end() {} },
          now: () => new Date(),
        },
        account.id,
        { ...end, actor: COMMAND_LINE },
      )
    } finally {
      await workspace.close()
    }
    return [DONE[end.data](account.username, heir?.username ?? '')]
  })
}

const DONE: Record<AccountEnd['data'], (name: string, heir: string) => string> = {
  delete: (name) => `${name}: deleted, including all data`,
  keep: (name) => `${name}: account disabled and sign-in removed; data kept`,
  hand_over: (name, heir) => `${name}: deleted; data transferred to ${heir}`,
}
