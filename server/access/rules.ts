// The combined permissions of a user's groups.

import type { GroupPermissions } from '../protocol/admin/group.ts'
import { ApprovalMode } from '../protocol/conversations/conversation.ts'

/** Names that may be used; null for all. */
type Allowed = ReadonlySet<string> | null

/** What a user may use. */
export interface AccessRules {
  models: Allowed
  tools: Allowed
  mcpServers: Allowed
  approvalModes: Allowed
}

export const UNRESTRICTED: AccessRules = {
  models: null,
  tools: null,
  mcpServers: null,
  approvalModes: null,
}

/** Null allows every name. */
export const allows = (allowed: Allowed, name: string): boolean =>
  allowed === null || allowed.has(name)

/** If several groups restrict a kind, the user may use what any of them permits. */
export function mergeRules(groups: readonly GroupPermissions[]): AccessRules {
  const union = (kind: keyof GroupPermissions): Allowed => {
    const lists = groups.flatMap((group) => (group[kind] === null ? [] : [group[kind]]))
    return lists.length === 0 ? null : new Set<string>(lists.flat())
  }
  return {
    models: union('models'),
    tools: union('tools'),
    mcpServers: union('mcp_servers'),
    approvalModes: union('approval_modes'),
  }
}

/** The approval modes that the rules permit, strictest first. */
export const approvalModes = ({ approvalModes: allowed }: AccessRules): ApprovalMode[] =>
  ApprovalMode.options.filter((mode) => mode === 'ask' || allows(allowed, mode))

/** The requested mode, or the nearest stricter one that the rules permit. */
export function permittedApproval(rules: AccessRules, wanted: ApprovalMode): ApprovalMode {
  const atMost = ApprovalMode.options.indexOf(wanted)
  return (
    approvalModes(rules).findLast((mode) => ApprovalMode.options.indexOf(mode) <= atMost) ?? 'ask'
  )
}
