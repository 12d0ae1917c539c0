// The choice of a project for what works by itself, or of none.
import type { ProjectId } from '../../../../server/protocol/ids.ts'
import { useProjects } from '../../lib/api/projects.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { SelectField } from './field.tsx'

/** @param props.field its name in refusals of the server. */
export function ProjectField({
  label,
  field,
  value,
  onChange,
}: {
  label: string
  field: string
  value: string | null
  onChange: (projectId: ProjectId | null) => void
}) {
  const { t } = useTranslation()
  const { data: projects = [] } = useProjects()
  return (
    <SelectField
      label={label}
      field={field}
      value={value ?? ''}
      options={[
        { value: '', label: t('schedules.noProject') },
        ...projects.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      onChange={({ target }) =>
        onChange(projects.find(({ id }) => id === target.value)?.id ?? null)
      }
    />
  )
}
