// A code block with language, colours and line numbers, and buttons to copy, save, wrap and, for Python, run it.

import { Download, Play, WrapText } from 'lucide-react'
import { memo, useContext, useState } from 'react'
import { saveFile } from '../../lib/browser/save-file.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../class-names.ts'
import { ActionButton } from '../controls/action-button.tsx'
import { ScrollRegion } from '../scroll-region.tsx'
import { PartBoundary } from '../states/part-boundary.tsx'
import { CodeActionsContext } from './code-actions.ts'
import { CodeLines } from './code-lines.tsx'
import { CopyButton } from './copy-button.tsx'

/** Code with at least this many lines has line numbers. */
const NUMBERED_LINES = 10

/** File extensions that differ from the language's name. */
const FILE_EXTENSIONS: Record<string, string> = {
  bash: 'sh',
  'c#': 'cs',
  'c++': 'cpp',
  console: 'sh',
  csharp: 'cs',
  docker: 'dockerfile',
  golang: 'go',
  javascript: 'js',
  kotlin: 'kt',
  latex: 'tex',
  makefile: 'mk',
  markdown: 'md',
  mermaid: 'mmd',
  powershell: 'ps1',
  python: 'py',
  ruby: 'rb',
  rust: 'rs',
  shell: 'sh',
  text: 'txt',
  typescript: 'ts',
  yaml: 'yml',
  zsh: 'sh',
}

const extensionOf = (language: string): string => {
  const extension = Object.hasOwn(FILE_EXTENSIONS, language) ? FILE_EXTENSIONS[language] : language
  return extension !== undefined && /^[a-z0-9]{1,12}$/.test(extension) ? extension : 'txt'
}

const isNumbered = (code: string): boolean => {
  let at = -1
  for (let line = 1; line < NUMBERED_LINES; line += 1) {
    at = code.indexOf('\n', at + 1)
    if (at < 0) return false
  }
  return true
}

/** A code block in answers, approval requests and tool results. `language` is the one of the fence and may be empty. */
export const CodeBlock = memo(function CodeBlock({
  code,
  language,
  whole = true,
}: {
  code: string
  language: string
  /** False while the code may still grow. */
  whole?: boolean
}) {
  const { t } = useTranslation()
  const [wraps, setWraps] = useState(false)
  const ProgramRun = useContext(CodeActionsContext)?.ProgramRun ?? null
  /** The code that was last run, and how many times. Other code in the same place was not. */
  const [ran, setRan] = useState<{ code: string; times: number } | null>(null)
  const isRunnable = ProgramRun !== null && whole && /^(?:py|python3?)$/.test(language)
  return (
    <figure dir="ltr" className="overflow-hidden rounded-xl border border-line bg-sunken">
      <figcaption className="flex min-h-9 items-center gap-0.5 pe-1.5 ps-3.5 text-xs text-muted">
        <span className="min-w-0 flex-1 truncate font-mono">
          {language === '' ? t('code.text') : language}
        </span>
        {isRunnable && (
          <ActionButton
            icon={Play}
            label={t('prose.code.run')}
            onClick={() => setRan({ code, times: (ran?.times ?? 0) + 1 })}
          />
        )}
        <ActionButton
          icon={WrapText}
          label={t('prose.code.wrap')}
          aria-pressed={wraps}
          className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted transition-colors hover:bg-hover hover:text-ink aria-pressed:bg-accent-soft aria-pressed:text-accent"
          onClick={() => setWraps(!wraps)}
        />
        <ActionButton
          icon={Download}
          label={t('prose.code.download')}
          onClick={() =>
            saveFile(new Blob([code], { type: 'text/plain' }), `code.${extensionOf(language)}`)
          }
        />
        <CopyButton text={code} />
      </figcaption>
      <ScrollRegion
        as="pre"
        className={classNames(
          'overflow-x-auto bg-sunken px-3.5 pb-3.5 -outline-offset-2',
          isNumbered(code) && 'code-numbered',
          wraps && 'code-wrapped',
        )}
      >
        <CodeLines code={code} language={language} />
      </ScrollRegion>
      {isRunnable && ran?.code === code && (
        <PartBoundary fallback={null}>
          <ProgramRun key={ran.times} code={code} onClose={() => setRan(null)} />
        </PartBoundary>
      )}
    </figure>
  )
})
