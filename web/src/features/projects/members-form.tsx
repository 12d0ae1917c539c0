// Who uses a project besides the person who made it: a part of its settings on servers with accounts.
import { Globe, LogOut, Trash2, User, Users } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Member, ProjectRole } from '../../../../server/protocol/projects/member.ts'
import type { Project } from '../../../../server/protocol/projects/project.ts'
import { useProfile } from '../../lib/api/auth.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { useLeaveProject, useMembers, useRemoveMember, useSetMember } from './api/members.ts'

type Shared = Pick<Project, 'id' | 'name' | 'role'>

const EVERYONE = 'everyone'
const iconOf = (principal: string) => {
  if (principal === EVERYONE) return Globe
  return principal.startsWith('group:') ? Users : User
}

/**
 * The list of members, which owners change; everybody else may leave. Renders nothing where projects cannot be shared, which the
 * server says.
 */
export function MembersSection({
  project,
  titleClass,
  boxClass,
}: {
  project: Shared
  titleClass: string
  boxClass: string
}) {
  const { t } = useTranslation()
  const { data: members } = useMembers(project.id)
  const me = useProfile().data?.id
  const isOwner = project.role === 'own'
  if (members === undefined) return null
  const isNamed = members.some(({ principal }) => principal === `user:${me}`)
  return (
    <section>
      <h2 className={titleClass}>{t('project.members')}</h2>
      <div className={`${boxClass} flex flex-col gap-4`}>
        <p className="text-note text-muted">{t('project.membersHint')}</p>
        <ul
          ref={moveFocusOnRemoval}
          aria-label={t('project.members')}
          className="flex flex-col divide-y divide-line rounded-xl border border-line"
        >
          {members.map((member) => (
            <MemberRow
              key={member.principal}
              member={member}
              project={project}
              isMe={member.principal === `user:${me}`}
            />
          ))}
        </ul>
        {isOwner && (
          <AddMember
            projectId={project.id}
            hasEveryone={members.some(({ principal }) => principal === EVERYONE)}
          />
        )}
        {isNamed && me !== undefined && members.length > 1 && (
          <Leave project={project} principal={`user:${me}`} />
        )}
      </div>
    </section>
  )
}

function useRoles() {
  const { t } = useTranslation()
  return [
    { value: 'use', label: t('project.roleUse') },
    { value: 'edit', label: t('project.roleEdit') },
    { value: 'own', label: t('project.roleOwn') },
  ] as const
}

function MemberRow({
  member: { principal, name, role },
  project,
  isMe,
}: {
  member: Member
  project: Shared
  /** The person themselves: they leave with a question, instead of removing themselves by one click. */
  isMe: boolean
}) {
  const { t } = useTranslation()
  const roles = useRoles()
  const change = useSetMember(project.id)
  const remove = useRemoveMember(project.id)
  const [removing, setRemoving] = useState(false)
  const Icon = iconOf(principal)
  const shown = principal === EVERYONE ? t('project.everyone') : name
  const possible = roles.filter(({ value }) => principal !== EVERYONE || value !== 'own')
  return (
    <li className="flex flex-wrap items-center gap-2 py-1 ps-3 pe-1.5">
      <Icon size={15} aria-hidden className="shrink-0 text-muted" />
      <bdi className="min-w-0 flex-1 text-sm [overflow-wrap:anywhere]">{shown}</bdi>
      {project.role === 'own' ? (
        <>
          <select
            aria-label={t('project.memberRole', { name: shown })}
            className="h-8 min-w-30 rounded-lg border border-line bg-surface px-2 text-sm"
            value={role}
            disabled={change.isPending}
            onChange={({ target }) => {
              const chosen = roles.find(({ value }) => value === target.value)
              if (chosen !== undefined) change.mutate({ principal, role: chosen.value })
            }}
          >
            {possible.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
          {isMe ? (
            <span aria-hidden className="w-7 shrink-0 pointer-coarse:w-11" />
          ) : (
            <IconButton
              icon={Trash2}
              size="small"
              label={t('project.approverRemove', { name: shown })}
              disabled={remove.isPending}
              onClick={() => setRemoving(true)}
            />
          )}
          <ConfirmDialog
            open={removing}
            onOpenChange={setRemoving}
            title={t('project.removeTitle', { name: shown })}
            text={t('project.removeText')}
            confirm={t('project.approverRemove', { name: shown })}
            onConfirm={() => remove.mutate(principal)}
          />
        </>
      ) : (
        <span className="py-1.5 pe-2 text-sm text-muted">
          {roles.find(({ value }) => value === role)?.label}
        </span>
      )}
    </li>
  )
}

function AddMember({ projectId, hasEveryone }: { projectId: string; hasEveryone: boolean }) {
  const { t } = useTranslation()
  const roles = useRoles()
  const add = useSetMember(projectId)
  const [kind, setKind] = useState<'user' | 'group'>('user')
  const [name, setName] = useState('')
  const [role, setRole] = useState<ProjectRole>('use')
  const isEmpty = name.trim() === ''
  return (
    <form
      aria-label={t('project.members')}
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        // A refusal is shown as a notice; the name stays.
        add.mutate({ principal: `${kind}:@${name.trim()}`, role }, { onSuccess: () => setName('') })
      }}
    >
      <Segmented
        label={t('project.approverKind')}
        value={kind}
        options={[
          { value: 'user', label: t('project.approverUser') },
          { value: 'group', label: t('project.approverGroup') },
        ]}
        onChange={setKind}
      />
      <div className="min-w-40 flex-1 max-sm:basis-full">
        <TextField
          label={t('project.approverName')}
          value={name}
          maxLength={100}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <SelectField
        label={t('project.role')}
        value={role}
        options={roles}
        onChange={({ target }) =>
          setRole(roles.find(({ value }) => value === target.value)?.value ?? 'use')
        }
      />
      <Button
        type="submit"
        tone={isEmpty ? 'plain' : 'primary'}
        disabled={isEmpty || add.isPending}
      >
        {t('project.approverAdd')}
      </Button>
      {!hasEveryone && (
        <Button
          disabled={add.isPending}
          onClick={() => add.mutate({ principal: EVERYONE, role: role === 'own' ? 'edit' : role })}
        >
          {t('project.addEveryone')}
        </Button>
      )}
    </form>
  )
}

function Leave({ project, principal }: { project: Shared; principal: string }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const [, navigate] = useLocation()
  const leave = useLeaveProject(project.id)
  return (
    <div>
      <Button icon={LogOut} disabled={leave.isPending} onClick={() => setAsking(true)}>
        {t('project.leave')}
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('project.leaveTitle', { name: project.name })}
        text={t('project.leaveText')}
        confirm={t('project.leave')}
        onConfirm={() => leave.mutate(principal, { onSuccess: () => navigate(paths.projects) })}
      />
    </div>
  )
}
