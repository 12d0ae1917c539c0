// Members of projects on the wire: who may use, change or own a project.
import { z } from 'zod'
import { PageQuery, page, withoutNul } from '../envelope.ts'

/** What members may do: `use` reads and talks, `edit` also changes, `own` also decides who is a member. */
export const ProjectRole = z.enum(['use', 'edit', 'own'])
export type ProjectRole = z.infer<typeof ProjectRole>

/** An account, a group with all of its members, or everybody who has an account. */
export const MemberPrincipal = z.union([
  z.templateLiteral([z.enum(['user', 'group']), ':', z.string().regex(/^[\w-]{1,64}$/)]),
  z.literal('everyone'),
])
export type MemberPrincipal = z.infer<typeof MemberPrincipal>

/** A member in an address: by id, or by name as `user:@<name>` or `group:@<name>`. */
export const GivenMember = withoutNul(z.string().min(1).max(120))

/** A member with the name of the account or group; '' for `everyone`. */
export const Member = z
  .object({ principal: MemberPrincipal, name: z.string(), role: ProjectRole })
  .meta({ id: 'ProjectMember' })
export type Member = z.infer<typeof Member>

export const MemberPage = page(Member).meta({ id: 'ProjectMemberPage' })
export const MemberListQuery = PageQuery
export const MemberBody = z.object({ role: ProjectRole }).meta({ id: 'SetProjectMember' })
