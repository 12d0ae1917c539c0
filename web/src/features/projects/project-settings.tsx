// What the conversations of a project follow: its instructions, model, memory and tools.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ProjectId } from '../../../../server/protocol/ids.ts'
import { useModels } from '../../lib/api/catalog.ts'
import { useProject, useUpdateProject } from '../../lib/api/projects.ts'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextArea } from '../../ui/controls/field.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { ToolSwitches } from '../../ui/controls/tool-switches.tsx'

type Project = NonNullable<ReturnType<typeof useProject>['data']>

/** A tab of the project's own page; draws nothing until the project has loaded. */
export function ProjectSettings({ projectId }: { projectId: string }) {
  const { data } = useProject(projectId)
  return data === undefined ? null : <Settings project={data} />
}

const titleClass = 'text-base font-semibold tracking-tight'
const boxClass = 'mt-3 rounded-2xl border border-line bg-surface p-4'

function Settings({ project }: { project: Project & { id: ProjectId } }) {
  const { t } = useTranslation()
  const { data: models } = useModels()
  const update = useUpdateProject()
  const [instructions, setInstructions] = useState(project.instructions)
  const { id } = project
  const isChanged = instructions.trim() !== project.instructions
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-8 p-4 pb-10">
      <section>
        <h2 className={titleClass}>{t('project.conversations')}</h2>
        <div className={`${boxClass} flex flex-col gap-5`}>
          <form
            className="flex flex-col gap-2"
            onSubmit={(event) => {
              event.preventDefault()
              update.mutate({ id, instructions: instructions.trim() })
            }}
          >
            <TextArea
              label={t('project.instructions')}
              hint={t('project.instructionsHint')}
              rows={5}
              maxLength={20_000}
              value={instructions}
              onChange={(event) => setInstructions(event.target.value)}
            />
            <Button
              type="submit"
              size="small"
              tone={isChanged ? 'primary' : 'plain'}
              className="self-end"
              disabled={!isChanged || update.isPending}
            >
              {t('common.save')}
            </Button>
          </form>
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
