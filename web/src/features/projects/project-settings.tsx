// The settings for the conversations of a project: instructions, model, memory, what it is as an assistant, skills, who decides, and tools.

import type { ProjectId } from '../../../../server/protocol/ids.ts'
import { useAuthMode } from '../../lib/api/auth.ts'
import { useModels } from '../../lib/api/catalog.ts'
import { useProject, useUpdateProject } from '../../lib/api/projects.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { SelectField } from '../../ui/controls/field.tsx'
import { InstructionsForm } from '../../ui/controls/instructions-form.tsx'
import { AddSkillButton, SkillList } from '../../ui/controls/skill-list.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { ToolSwitches } from '../../ui/controls/tool-switches.tsx'
import { ApproversForm } from './approvers-form.tsx'
import { AssistantForm } from './assistant-form.tsx'
import { MembersSection } from './members-form.tsx'

type Project = NonNullable<ReturnType<typeof useProject>['data']>

/** A tab of the project's page. Renders nothing until the project has loaded. */
export function ProjectSettings({ projectId }: { projectId: string }) {
  const { data } = useProject(projectId)
  return data === undefined ? null : <Settings project={data} />
}

const titleClass = 'text-base font-semibold tracking-tight'
const boxClass = 'mt-3 rounded-2xl border border-line bg-surface p-4'

function Settings({ project }: { project: Project & { id: ProjectId } }) {
  const { t } = useTranslation()
  const { data: models } = useModels()
  const hasAccounts = useAuthMode().data?.mode === 'multi'
  const update = useUpdateProject()
  const { id, role } = project
  const members = hasAccounts && (
    <MembersSection key={id} project={project} titleClass={titleClass} boxClass={boxClass} />
  )
  const skills = (
    <section>
      <div className="flex flex-wrap items-end justify-between gap-2">
        <div className="min-w-60 flex-1">
          <h2 className={titleClass}>{t('skills.title')}</h2>
          <p className="mt-0.5 text-sm text-muted">{t('project.skillsText')}</p>
        </div>
        {role !== 'use' && <AddSkillButton projectId={id} />}
      </div>
      <div className={boxClass}>
        <SkillList
          projectId={id}
          off={project.skills_off}
          {...(role !== 'use' && {
            onOff: (off) => update.mutate({ id, skills_off: off }),
          })}
        />
      </div>
    </section>
  )
  if (role === 'use')
    return (
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-8 p-4 pb-10">
        <p className="text-sm text-muted">{t('project.readOnly')}</p>
        {skills}
        {members}
      </div>
    )
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-8 p-4 pb-10">
      <section>
        <h2 className={titleClass}>{t('project.conversations')}</h2>
        <div className={`${boxClass} flex flex-col gap-5`}>
          <InstructionsForm
            key={id}
            place={id}
            label={t('project.instructions')}
            hint={t('project.instructionsHint')}
            stored={project.instructions}
            saving={update.isPending}
            onSave={(instructions) => update.mutateAsync({ id, instructions })}
          />
          <SelectField
            label={t('project.model')}
            hint={t('project.modelHint')}
            value={project.model ?? ''}
            options={[
              { value: '', label: t('common.default') },
              ...(models ?? []).map((model) => ({ value: model.id, label: model.name })),
            ]}
            onChange={({ target }) =>
              update.mutate({ id, model: target.value === '' ? null : target.value })
            }
          />
          <Switch
            label={t('project.memory')}
            hint={t('project.memoryHint')}
            checked={project.uses_memory}
            onChange={(on) => update.mutate({ id, uses_memory: on })}
          />
        </div>
      </section>
      <section>
        <h2 className={titleClass}>{t('project.assistant')}</h2>
        <p className="mt-0.5 text-sm text-muted">{t('project.assistantText')}</p>
        <div className={boxClass}>
          <AssistantForm key={id} project={project} />
        </div>
      </section>
      {skills}
      {members}
      {hasAccounts && role === 'own' && (
        <section>
          <h2 className={titleClass}>{t('project.decisions')}</h2>
          <div className={boxClass}>
            <ApproversForm key={id} project={project} />
          </div>
        </section>
      )}
      <section>
        <h2 className={titleClass}>{t('tools.title')}</h2>
        <p className="mt-0.5 text-sm text-muted">{t('project.toolsText')}</p>
        <div className={boxClass}>
          <ToolSwitches
            disabled={project.disabled_tools}
            onChange={(disabled) => update.mutate({ id, disabled_tools: disabled })}
          />
        </div>
      </section>
    </div>
  )
}
