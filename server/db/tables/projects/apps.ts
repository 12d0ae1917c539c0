// The tables of apps: the addresses under which files of projects run in frames, and what people permitted these files.

import type { AppKind } from '../../../protocol/app-kind.ts'
import type { ProjectId } from '../../../protocol/ids.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import type { defineSessionTables } from '../accounts/sessions.ts'
import { ownedBy } from '../owner.ts'
import type { defineProjectTables } from './projects.ts'

type Needed = Pick<ReturnType<typeof defineAccountTables>, 'users'> &
  Pick<ReturnType<typeof defineSessionTables>, 'sessions' | 'apiKeys'> &
  Pick<ReturnType<typeof defineProjectTables>, 'projects'>

/** An address ends with the session or key of the request that made it, and with the project. */
export function defineAppTables(c: Columns, { users, sessions, apiKeys, projects }: Needed) {
  const ofProject = () =>
    c
      .key<ProjectId>('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' })

  const apps = c.table(
    'apps',
    {
      id: c.text('id').primaryKey(),
      userId: ownedBy(c, users),
      /** SHA-256 of the token in the address. */
      tokenHash: c.text('token_hash').notNull(),
      sessionId: c.text('session_id').references(() => sessions.id, { onDelete: 'cascade' }),
      apiKeyId: c.text('api_key_id').references(() => apiKeys.id, { onDelete: 'cascade' }),
      projectId: ofProject(),
      path: c.text('path').notNull(),
      /** The file as it was before this change; null: as it is. */
      checkpointId: c.text('checkpoint_id'),
      kind: c.choice<AppKind>('kind').notNull(),
      /** The origin at which it is served; null: the server had none. */
      appsOrigin: c.text('apps_origin'),
      /** The origin whose pages may frame it. */
      pageOrigin: c.text('page_origin').notNull(),
      createdAt: c.time('created_at').notNull(),
      expiresAt: c.time('expires_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('apps_token').on(t.tokenHash),
      c.index('apps_user').on(t.userId, t.createdAt, t.id),
      c.index('apps_session').on(t.sessionId),
      c.index('apps_key').on(t.apiKeyId),
      c.index('apps_project').on(t.projectId),
    ],
  )

  /** Apps that may use the network, for the user who allowed it. */
  const appNetworks = c.table(
    'app_networks',
    {
      userId: ownedBy(c, users),
      projectId: ofProject(),
      path: c.text('path').notNull(),
      /** Hashes of the files with text from outside that the app consisted of then: others end the permission. */
      outside: c.json<string[]>('outside').notNull(),
      allowedAt: c.time('allowed_at').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.userId, t.projectId, t.path] }),
      c.index('app_networks_project').on(t.projectId),
    ],
  )

  return { apps, appNetworks }
}
