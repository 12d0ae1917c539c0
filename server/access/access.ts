// The one place that decides what a user may use: models, tools, MCP servers, approval modes.
import pLimit from 'p-limit'
import type { GroupRepository } from '../db/repositories/groups.ts'
import { appError } from '../errors.ts'
import type { ApprovalMode } from '../protocol/conversation.ts'
import type { GroupId, GroupPermissions } from '../protocol/group.ts'
import type { UserId } from '../protocol/ids.ts'
import {
  type AccessRules,
  allows,
  approvalModes,
  mergeRules,
  permittedApproval,
  UNRESTRICTED,
} from './rules.ts'

/** A tool, as far as rules are concerned. */
interface RuledTool {
  name: string
  category: string
}

export interface Access {
  /** Reads the groups again; call it at the start, and after each change of a group or its members. */
  reload(): Promise<void>
  /** The groups of a user, by name. */
  groupsOf(userId: UserId): readonly { id: GroupId; name: string }[]
  /** Which models a user may use. */
  models(userId: UserId | null): (id: string) => boolean
  /** Which tools a user may use, or null for all; the same function as long as the rules are the same. */
  tools(userId: UserId | null): ((tool: RuledTool) => boolean) | null
  allowsMcpServer(userId: UserId | null, name: string): boolean
  /** From the strictest on. */
  approvalModes(userId: UserId): ApprovalMode[]
  /** The wanted mode, or the nearest stricter one that the user may use. */
  approvalMode(userId: UserId, wanted: ApprovalMode): ApprovalMode
  /** @throws AppError `approval_mode_not_permitted`. */
  assertApprovalMode(userId: UserId, mode: ApprovalMode): void
}

interface Entry {
  rules: AccessRules
  groups: readonly { id: GroupId; name: string }[]
  tools: ((tool: RuledTool) => boolean) | null
}

const NOBODY: Entry = { rules: UNRESTRICTED, groups: [], tools: null }

/**
 * All groups are held in memory, because every send asks: one process serves a store, and it reads them again after each
 * change. Users without a group may use everything.
 */
export function createAccess(groups: Pick<GroupRepository, 'all'>): Access {
  let users: ReadonlyMap<UserId, Entry> = new Map()
  const oneByOne = pLimit(1)
  const of = (userId: UserId | null): Entry =>
    (userId === null ? undefined : users.get(userId)) ?? NOBODY

  return {
    reload: () =>
      oneByOne(async () => {
        users = entriesOf(await groups.all())
      }),
    groupsOf: (userId) => of(userId).groups,
    models: (userId) => {
      const { rules } = of(userId)
      return (id) => allows(rules.models, id)
    },
    tools: (userId) => of(userId).tools,
    allowsMcpServer: (userId, name) => allows(of(userId).rules.mcpServers, name),
    approvalModes: (userId) => approvalModes(of(userId).rules),
    approvalMode: (userId, wanted) => permittedApproval(of(userId).rules, wanted),
    assertApprovalMode(userId, mode) {
      const allowed = approvalModes(of(userId).rules)
      if (!allowed.includes(mode))
        throw appError('approval_mode_not_permitted', { mode, available: allowed.join(', ') })
    },
  }
}

/** Members of the same groups share an entry. */
function entriesOf(stored: Awaited<ReturnType<GroupRepository['all']>>): Map<UserId, Entry> {
  const byName = stored.groups.toSorted((one, other) => (one.nameKey < other.nameKey ? -1 : 1))
  const idsOf = new Map<UserId, Set<GroupId>>()
  for (const { groupId, userId } of stored.members)
    idsOf.set(userId, (idsOf.get(userId) ?? new Set()).add(groupId))
  const shared = new Map<string, Entry>()
  const entries = new Map<UserId, Entry>()
  for (const [userId, ids] of idsOf) {
    const own = byName.filter(({ id }) => ids.has(id))
    const key = own.map(({ id }) => id).join(' ')
    const entry = shared.get(key) ?? entryOf(own)
    shared.set(key, entry)
    entries.set(userId, entry)
  }
  return entries
}

function entryOf(
  groups: readonly { id: GroupId; name: string; permissions: GroupPermissions }[],
): Entry {
  const rules = mergeRules(groups.map(({ permissions }) => permissions))
  return {
    rules,
    groups: groups.map(({ id, name }) => ({ id, name })),
    // Tools of MCP servers are there as far as their server is.
    tools:
      rules.tools === null
        ? null
        : ({ name, category }) => category === 'mcp' || allows(rules.tools, name),
  }
}
