// The skills that the user has everywhere: switched on and off, added and deleted.
import { GraduationCap, Plus, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import type { Skill } from '../../../../server/protocol/projects/skills.ts'
import { useAddSkill, useDeleteSkill, useSkills } from '../../lib/api/skills.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { skillDescription } from '../../lib/skill-description.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Switch } from '../../ui/controls/switch.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { Section } from './section.tsx'

/** A part of the agent tab. `off` are the names of the skills that are switched off. */
export function SkillsSection({
  off,
  onOff,
}: {
  off: readonly string[]
  onOff: (names: string[]) => void
}) {
  const { t } = useTranslation()
  const skills = useSkills(null)
  const add = useAddSkill()
  const input = useRef<HTMLInputElement>(null)
  return (
    <Section
      id="skills"
      title={t('skills.title')}
      text={t('skills.text')}
      action={
        <>
          <input
            ref={input}
            type="file"
            accept=".md,.zip,.skill"
            aria-label={t('skills.add')}
            className="sr-only"
            tabIndex={-1}
            onChange={({ target }) => {
              const file = target.files?.[0]
              target.value = ''
              if (file !== undefined) add.mutate(file)
            }}
          />
          <Button
            size="small"
            icon={Plus}
            disabled={add.isPending}
            onClick={() => input.current?.click()}
          >
            {t('skills.add')}
          </Button>
        </>
      }
    >
      {skills.isPending && <Loading />}
      {skills.isError && (
        <Failed message={errorText(skills.error)} onRetry={() => void skills.refetch()} />
      )}
      {skills.data?.length === 0 && <Empty icon={GraduationCap} title={t('skills.none')} />}
      <ul
        aria-label={t('skills.title')}
        ref={moveFocusOnRemoval}
        className="-my-2 divide-y divide-line"
      >
        {skills.data?.map((skill) => (
          <SkillRow
            key={`${skill.source} ${skill.name}`}
            skill={skill}
            isOn={!off.includes(skill.name)}
            onSwitch={(on) =>
              onOff(on ? off.filter((name) => name !== skill.name) : [...off, skill.name])
            }
          />
        ))}
      </ul>
    </Section>
  )
}

function SkillRow({
  skill,
  isOn,
  onSwitch,
}: {
  skill: Skill
  isOn: boolean
  onSwitch: (on: boolean) => void
}) {
  const { t } = useTranslation()
  const remove = useDeleteSkill()
  const [deleting, setDeleting] = useState(false)
  const { name, source, state, error } = skill
  return (
    <li className="flex items-center gap-2 py-2.5">
      <div className="min-w-0 flex-1">
        {state === 'invalid' || state === 'hidden' ? (
          <>
            <p className="text-sm font-medium text-soft">{name}</p>
            <p className="text-note wrap-anywhere text-muted">{error ?? t('skills.hidden')}</p>
          </>
        ) : (
          <Switch
            label={name}
            hint={skillDescription(skill, t)}
            checked={isOn}
            onChange={onSwitch}
          />
        )}
      </div>
      {source === 'user' && (
        <IconButton
          icon={Trash2}
          size="small"
          label={t('skills.deleteOne', { name })}
          onClick={() => setDeleting(true)}
        />
      )}
      <ConfirmDialog
        open={deleting}
        onOpenChange={setDeleting}
        title={t('skills.deleteOne', { name })}
        text={t('skills.deleteText')}
        confirm={t('common.delete')}
        onConfirm={() => remove.mutate(name)}
      />
    </li>
  )
}
