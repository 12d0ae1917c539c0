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
  QuotaKindName,
  type SharedQuota,
} from '../protocol/accounts/quota.ts'
import type { Feature, GroupId, GroupPermissions } from '../protocol/admin/group.ts'
import { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type { UserId } from '../protocol/ids.ts'

// The combined permissions of a user's groups.

/** Names that may be used; null for all. */
type Allowed = ReadonlySet<string> | null

/** What a user may use. */
interface AccessRules {
  models: Allowed
  tools: Allowed
  mcpServers: Allowed
  approvalModes: Allowed
  features: Allowed
}

const UNRESTRICTED: AccessRules = {
  models: null,
  tools: null,
  mcpServers: null,
  approvalModes: null,
  features: null,
}

/** Null allows every name. */
const allows = (allowed: Allowed, name: string): boolean => allowed === null || allowed.has(name)

/** If several groups restrict a kind, the user may use what any of them permits. */
function mergeRules(groups: readonly GroupPermissions[]): AccessRules {
  const union = (kind: keyof GroupPermissions): Allowed => {
    // A version without a kind does not store it.
    const lists = groups.flatMap((group) => {
      const list: readonly string[] | null | undefined = group[kind]
      return list == null ? [] : [list]
    })
    return lists.length === 0 ? null : new Set<string>(lists.flat())
  }
  return {
    models: union('models'),
    tools: union('tools'),
    mcpServers: union('mcp_servers'),
    approvalModes: union('approval_modes'),
    features: union('features'),
  }
}

/** The approval modes that the rules permit, strictest first. */
const approvalModes = ({ approvalModes: allowed }: AccessRules): ApprovalMode[] =>
  ApprovalMode.options.filter((mode) => mode === 'ask' || allows(allowed, mode))

/** The requested mode, or the nearest stricter one that the rules permit. */
function permittedApproval(rules: AccessRules, wanted: ApprovalMode): ApprovalMode {
  const atMost = ApprovalMode.options.indexOf(wanted)
  return (
    approvalModes(rules).findLast((mode) => ApprovalMode.options.indexOf(mode) <= atMost) ?? 'ask'
  )
}

// The limits that apply to a user: the user's own, else the most generous of the user's groups, else the server's.

/** A limit on what some users may spend on model calls together. */
interface SpendingLimit {
  users: readonly UserId[]
  /** The name of the group whose members share it; null for a limit of one user. */
  group: string | null
  quota: SharedQuota
}

/** If several groups limit a kind, the largest limit applies. */
function effectiveQuota(
  own: PatchQuota | undefined,
  groups: readonly PatchQuota[],
  defaults: Quota,
): Quota {
  const quota = { ...defaults }
  for (const kind of QuotaKindName.options) {
    const limits = groups.flatMap((group) => group[kind] ?? [])
    const largest = limits.length === 0 ? null : Math.max(...limits)
    quota[kind] = own?.[kind] ?? largest ?? defaults[kind]
  }
  return quota
}

/** Whether the quota limits tokens or cost. */
const limitsSpending = (quota: SharedQuota): boolean =>
  quota.tokens_per_day !== null ||
  quota.tokens_per_month !== null ||
  quota.cost_per_day !== null ||
  quota.cost_per_month !== null

/** Parts of the product whose tools are a category of their own: without the part, they are not offered. */
const FEATURE_OF_CATEGORY: ReadonlyMap<string, Feature> = new Map([['schedule', 'schedules']])

/** Why something of a part is refused. */
const OFF = { apps: 'apps_off', channels: 'channels_off', schedules: 'schedules_off' } as const

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
  /** Whether a part of the product exists for the user. */
  allowsFeature(userId: UserId | null, feature: Feature): boolean
  /** @throws AppError that says which part is off, for the server or for the user. */
  assertFeature(userId: UserId, feature: Exclude<Feature, 'sharing_projects'>): void
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
  /** The bytes that a user may store. */
  storageLimit(userId: UserId): number
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
 * @param off parts of the product that nobody may use, because the server has them switched off.
 */
export function createAccess(
  {
    groups,
    quotas,
  }: { groups: Pick<GroupRepository, 'all'>; quotas: Pick<QuotaRepository, 'all'> },
  defaults: Quota = NO_QUOTA,
  off: readonly Feature[] = [],
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
  const allowsFeature = (userId: UserId | null, feature: Feature): boolean =>
    !off.includes(feature) && allows(of(userId).rules.features, feature)

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
    allowsFeature,
    assertFeature(userId, feature) {
      if (!allowsFeature(userId, feature)) throw appError(OFF[feature])
    },
    approvalModes: (userId) => approvalModes(of(userId).rules),
    approvalMode: (userId, wanted) => permittedApproval(of(userId).rules, wanted),
    assertApprovalMode(userId, mode) {
      const allowed = approvalModes(of(userId).rules)
      if (!allowed.includes(mode))
        throw appError('approval_mode_not_permitted', { mode, available: [...allowed] })
    },
    ownQuota: (userId) => of(userId).ownQuota,
    quota: (userId) => of(userId).quota,
    storageLimit: (userId) => of(userId).quota.storage ?? Number.POSITIVE_INFINITY,
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

/** Tools of MCP servers are permitted if their server is, those of a part of the product if the part is. */
function permits(rules: AccessRules, { name, category }: RuledTool): boolean {
  const feature = FEATURE_OF_CATEGORY.get(category)
  if (feature !== undefined && !allows(rules.features, feature)) return false
  return category === 'mcp' || allows(rules.tools, name)
}

function entryOf(
  groups: readonly { id: GroupId; name: string; permissions: GroupPermissions }[],
): Entry {
  const rules = mergeRules(groups.map(({ permissions }) => permissions))
  return {
    rules,
    groups: groups.map(({ id, name }) => ({ id, name })),
    tools: rules.tools === null && rules.features === null ? null : (tool) => permits(rules, tool),
  }
}
