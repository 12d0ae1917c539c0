// Views of results from a project: files with line numbers, folders as trees, matches by file.

import { File, Folder } from 'lucide-react'
import { useContext } from 'react'
import { Link } from 'wouter'
import { fileSize } from '../../../../lib/format.ts'
import { useTranslation } from '../../../../lib/i18n/use-translation.tsx'
import { keyed } from '../../../../lib/list-keys.ts'
import { paths } from '../../../../lib/paths.ts'
import { CodeLines } from '../../../../ui/markdown/code-lines.tsx'
import { CopyButton } from '../../../../ui/markdown/copy-button.tsx'
import { ScrollRegion } from '../../../../ui/scroll-region.tsx'
import { Fold } from '../../../../ui/table/fold.tsx'
import { ConversationContext } from '../../conversation-context.ts'
import { type Branch, treeOf } from './folder-tree.ts'
import type { FileEntry, FileMatch } from './result-kinds.ts'

const LINES_FOLDED = 24
const ENTRIES_FOLDED = 30
const MATCHES_FOLDED = 20
const MATCH_CHARACTERS = 400

/** A link that opens a file of the conversation's project; plain text without a project. */
function FileLink({ path, line, name }: { path: string; line?: number; name: string }) {
  const { projectId } = useContext(ConversationContext)
  if (projectId === null) return <span className="font-mono [overflow-wrap:anywhere]">{name}</span>
  return (
    <Link
      href={paths.projectFile(projectId, line === undefined ? { path } : { path, line })}
      title={path}
      // In a list of links, a line number alone would be meaningless.
      aria-label={line === undefined ? undefined : `${path}:${line}`}
      className="font-mono text-accent underline decoration-accent/40 underline-offset-3 [overflow-wrap:anywhere] hover:decoration-current"
    >
      {name}
    </Link>
  )
}

const languageOf = (path: string): string => /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''

/** `text` begins at line `firstLine` (from 1) of a file with `totalLines` lines. A long text is folded. */
export function FileLines({
  path,
  text,
  firstLine,
  totalLines,
}: {
  path: string
  text: string
  firstLine: number
  totalLines: number
}) {
  const { t } = useTranslation()
  const lines = text.replace(/\n$/, '').split('\n')
  const last = firstLine + lines.length - 1
  return (
    <figure dir="ltr" className="flex flex-col gap-2">
      <Fold
        total={lines.length}
        folded={LINES_FOLDED}
        unit="lines"
        draw={(count) => (
          <div className="overflow-hidden rounded-xl border border-line bg-sunken">
            <figcaption className="flex min-h-9 items-center justify-between gap-2 pe-1.5 ps-3.5 text-xs text-muted">
              <span className="min-w-0 truncate">
                <FileLink path={path} line={firstLine} name={path} />
                {' · '}
                {t('results.lines', { first: firstLine, last, total: Math.max(totalLines, last) })}
              </span>
              <CopyButton text={text} />
            </figcaption>
            <ScrollRegion
              as="pre"
              dir="ltr"
              className="flex max-h-128 overflow-auto bg-sunken pb-3 -outline-offset-2"
            >
              <span
                aria-hidden
                className="code-lines sticky start-0 block h-fit bg-sunken pe-3 ps-3.5 text-end whitespace-pre text-muted select-none"
              >
                {lines
                  .slice(0, count)
                  .map((_line, index) => firstLine + index)
                  .join('\n')}
              </span>
              <CodeLines code={lines.slice(0, count).join('\n')} language={languageOf(path)} />
            </ScrollRegion>
          </div>
        )}
      />
    </figure>
  )
}

/** `label` is the accessible name of the tree. */
export function FolderTree({ label, entries }: { label: string; entries: readonly FileEntry[] }) {
  const { t } = useTranslation()
  if (entries.length === 0) return <p className="text-sm text-muted">{t('steps.nothingFound')}</p>
  return (
    <Fold
      total={entries.length}
      folded={ENTRIES_FOLDED}
      unit="items"
      draw={(count) => <Branches label={label} branches={treeOf(entries.slice(0, count))} />}
    />
  )
}

function Branches({ label, branches }: { label?: string; branches: readonly Branch[] }) {
  const { i18n } = useTranslation()
  return (
    <ul
      aria-label={label}
      className={
        label === undefined
          ? 'ms-[7px] flex flex-col border-s border-line ps-3.5'
          : 'flex flex-col text-note'
      }
    >
      {branches.map((branch) => (
        <li key={branch.path} className="min-w-0">
          {branch.children.length > 0 ? (
            <details open>
              <summary className="flex cursor-pointer items-center gap-2 rounded py-0.5 hover:bg-hover/60">
                <Folder size={14} aria-hidden className="shrink-0 text-muted" />
                <span className="font-mono [overflow-wrap:anywhere]">{branch.name}</span>
              </summary>
              <Branches branches={branch.children} />
            </details>
          ) : (
            <p className="flex items-center gap-2 py-0.5">
              {branch.folder ? (
                <Folder size={14} aria-hidden className="shrink-0 text-muted" />
              ) : (
                <File size={14} aria-hidden className="shrink-0 text-muted" />
              )}
              {branch.folder ? (
                <span className="font-mono [overflow-wrap:anywhere]">{branch.name}</span>
              ) : (
                <FileLink path={branch.path} name={branch.name} />
              )}
              {branch.size !== undefined && !branch.folder && (
                <span className="shrink-0 text-xs text-muted">
                  {fileSize(branch.size, i18n.language)}
                </span>
              )}
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}

/** Consecutive matches in one file. */
type MatchedFile = { path: string; lines: FileMatch[] }

function byFile(matches: readonly FileMatch[]): MatchedFile[] {
  const files: MatchedFile[] = []
  for (const match of matches) {
    const last = files.at(-1)
    if (last?.path === match.path) last.lines.push(match)
    else files.push({ path: match.path, lines: [match] })
  }
  return files
}

/** `label` is the accessible name of the list. Many matches are folded. */
export function FileMatches({ label, matches }: { label: string; matches: readonly FileMatch[] }) {
  const { t } = useTranslation()
  if (matches.length === 0) return <p className="text-sm text-muted">{t('steps.nothingFound')}</p>
  return (
    <Fold
      total={matches.length}
      folded={MATCHES_FOLDED}
      unit="items"
      draw={(count) => (
        <ul aria-label={label} className="flex flex-col gap-2.5 text-note">
          {keyed(byFile(matches.slice(0, count)), ({ path }) => path).map(
            ({ key, item: { path, lines } }) => (
              <li key={key} className="min-w-0">
                <FileLink path={path} name={path} />
                <MatchedLines path={path} lines={lines} />
              </li>
            ),
          )}
        </ul>
      )}
    />
  )
}

function MatchedLines({ path, lines }: { path: string; lines: readonly FileMatch[] }) {
  const { projectId } = useContext(ConversationContext)
  return (
    <ol
      dir="ltr"
      className="mt-1 overflow-hidden rounded-lg border border-line bg-sunken py-1 font-mono text-code"
    >
      {keyed(lines, ({ line }) => `${line}`).map(({ key, item: { line, content } }) => (
        <li key={key} className="flex gap-3 px-2.5 py-px">
          <span className="min-w-8 shrink-0 text-end text-muted tabular-nums select-none">
            {projectId === null ? line : <FileLink path={path} line={line} name={String(line)} />}
          </span>
          <span className="min-w-0 whitespace-pre-wrap text-soft [overflow-wrap:anywhere]">
            {content.trim().slice(0, MATCH_CHARACTERS)}
          </span>
        </li>
      ))}
    </ol>
  )
}
