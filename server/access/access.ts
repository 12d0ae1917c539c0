// Decides what a user may use, and how much of it. No other code does.
import pLimit from 'p-limit'
import type { GroupRepository } from '../db/repositories/accounts/groups.ts'
import type { QuotaRepository } from '../db/repositories/accounts/quotas.ts'
import { appError } from '../errors.ts'
import {
  fullSharedQuota,
  NO_QUOTA,
  type PatchQuota,
  type Quota,
} from '../protocol/accounts/quota.ts'
import type { GroupId, GroupPermissions } from '../protocol/admin/group.ts'
import type { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type { UserId } from '../protocol/ids.ts'
import { effectiveQuota, limitsSpending, type SpendingLimit } from './quotas.ts'
import {
  type AccessRules,
  allows,
  approvalModes,
  mergeRules,
  permittedApproval,
  UNRESTRICTED,
} from './rules.ts'

/** The properties of a tool that rules depend on. */
interface RuledTool {
  name: string
  category: string
}

/** What users may use, and how much. Answers come from memory; call `reload` after a change. */
export interface Access {
  /** Reads groups and quotas again. Call it at the start, and after each change of a group, its members or a quota. */
  reload(): Promise<void>
  /** The groups of a user, by name. */
  groupsOf(userId: UserId): readonly { id: GroupId; name: string }[]
  /** Which models a user may use. */
  models(userId: UserId | null): (id: string) => boolean
  /** The test which tools a user may use; null for all. The same function while the rules stay the same. */
  tools(userId: UserId | null): ((tool: RuledTool) => boolean) | null
  allowsMcpServer(userId: UserId | null, name: string): boolean
  /** Strictest first. */
  approvalModes(userId: UserId): ApprovalMode[]
  /** The requested mode, or the nearest stricter one that the user may use. */
  approvalMode(userId: UserId, wanted: ApprovalMode): ApprovalMode
  /** @throws AppError `approval_mode_not_permitted`. */
  assertApprovalMode(userId: UserId, mode: ApprovalMode): void
  /** The limits that are set for the user alone. */
  ownQuota(userId: UserId): PatchQuota
  /** The limits that apply to the user alone. */
  quota(userId: UserId): Quota
  /** The limits on the user's model calls: the user's own, and those that groups share. Empty if there are none. */
  spendingLimits(userId: UserId): readonly SpendingLimit[]
}

interface Entry {
  rules: AccessRules
  groups: readonly { id: GroupId; name: string }[]
  tools: ((tool: RuledTool) => boolean) | null
}

/** The rules and quota of one user. */
interface UserEntry extends Entry {
  ownQuota: PatchQuota
  quota: Quota
  shared: readonly SpendingLimit[]
}

/**
 * All groups are in memory, because every send needs them. They are read again after each change and, with several
 * instances, every few seconds. Users without a group may use everything; `defaults` limits users without any other limit.
 */
export function createAccess(
  {
    groups,
    quotas,
  }: { groups: Pick<GroupRepository, 'all'>; quotas: Pick<QuotaRepository, 'all'> },
  defaults: Quota = NO_QUOTA,
): Access {
  let users: ReadonlyMap<UserId, UserEntry> = new Map()
  const oneByOne = pLimit(1)
  const nobody: UserEntry = {
    rules: UNRESTRICTED,
    groups: [],
    tools: null,
    ownQuota: {},
    quota: defaults,
    shared: [],
  }
  const of = (userId: UserId | null): UserEntry =>
    (userId === null ? undefined : users.get(userId)) ?? nobody

  return {
    reload: () =>
      oneByOne(async () => {
        users = entriesOf(await groups.all(), await quotas.all(), defaults)
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
        throw appError('approval_mode_not_permitted', { mode, available: [...allowed] })
    },
    ownQuota: (userId) => of(userId).ownQuota,
    quota: (userId) => of(userId).quota,
    spendingLimits(userId) {
      const { quota, shared } = of(userId)
      if (!limitsSpending(quota)) return shared
      return [{ users: [userId], group: null, quota }, ...shared]
    },
  }
}

/** Members of the same groups share one set of rules. */
function entriesOf(
  stored: Awaited<ReturnType<GroupRepository['all']>>,
  ownQuotas: Awaited<ReturnType<QuotaRepository['all']>>,
  defaults: Quota,
): Map<UserId, UserEntry> {
  const byName = stored.groups.toSorted((one, other) => (one.nameKey < other.nameKey ? -1 : 1))
  const membersOf = new Map<GroupId, UserId[]>()
  const idsOf = new Map<UserId, Set<GroupId>>(ownQuotas.map(({ userId }) => [userId, new Set()]))
  for (const { groupId, userId } of stored.members) {
    idsOf.set(userId, (idsOf.get(userId) ?? new Set()).add(groupId))
    const members = membersOf.get(groupId)
    if (members === undefined) membersOf.set(groupId, [userId])
    else members.push(userId)
  }
  const limits = new Map<GroupId, SpendingLimit>()
  for (const { id, name, sharedQuota } of byName) {
    const quota = fullSharedQuota(sharedQuota)
    if (limitsSpending(quota))
      limits.set(id, { users: membersOf.get(id) ?? [], group: name, quota })
  }
  const quotaOf = new Map(ownQuotas.map(({ userId, quota }) => [userId, quota]))
  const shared = new Map<string, Entry>()
  const entries = new Map<UserId, UserEntry>()
  for (const [userId, ids] of idsOf) {
    const own = byName.filter(({ id }) => ids.has(id))
    const key = own.map(({ id }) => id).join(' ')
    const entry = shared.get(key) ?? entryOf(own)
    shared.set(key, entry)
    entries.set(userId, {
      ...entry,
      ownQuota: quotaOf.get(userId) ?? {},
      quota: effectiveQuota(
        quotaOf.get(userId),
        own.map(({ quota }) => quota ?? {}),
        defaults,
      ),
      shared: own.flatMap(({ id }) => limits.get(id) ?? []),
    })
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
    // Tools of MCP servers are permitted if their server is.
    tools:
      rules.tools === null
        ? null
        : ({ name, category }) => category === 'mcp' || allows(rules.tools, name),
  }
}
