// A text editor for source files with syntax highlighting. Loads when the first file is opened.

import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { Annotation, Compartment, EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { basicSetup } from 'codemirror'
import { useEffect, useRef } from 'react'
import { focusText } from '../../lib/browser/focus-text.ts'
import { useNewest } from '../../lib/newest.ts'

const scripts = () => import('@codemirror/lang-javascript')
const markup = () => import('@codemirror/lang-html').then(({ html }) => html())

const LANGUAGES: Record<string, () => Promise<Extension>> = {
  css: () => import('@codemirror/lang-css').then(({ css }) => css()),
  htm: markup,
  html: markup,
  vue: markup,
  svg: markup,
  xml: markup,
  js: () => scripts().then(({ javascript }) => javascript({ jsx: true })),
  jsx: () => scripts().then(({ javascript }) => javascript({ jsx: true })),
  mjs: () => scripts().then(({ javascript }) => javascript()),
  cjs: () => scripts().then(({ javascript }) => javascript()),
  ts: () => scripts().then(({ javascript }) => javascript({ typescript: true })),
  tsx: () => scripts().then(({ javascript }) => javascript({ jsx: true, typescript: true })),
  json: () => import('@codemirror/lang-json').then(({ json }) => json()),
  md: () => import('@codemirror/lang-markdown').then(({ markdown }) => markdown()),
  markdown: () => import('@codemirror/lang-markdown').then(({ markdown }) => markdown()),
  py: () => import('@codemirror/lang-python').then(({ python }) => python()),
  sql: () => import('@codemirror/lang-sql').then(({ sql }) => sql()),
  yaml: () => import('@codemirror/lang-yaml').then(({ yaml }) => yaml()),
  yml: () => import('@codemirror/lang-yaml').then(({ yaml }) => yaml()),
}

/** The language support for a file's extension; none if it is unknown. */
const languageOf = (name: string): Promise<Extension> => {
  const extension = name.split('.').at(-1)?.toLowerCase() ?? ''
  const load = Object.hasOwn(LANGUAGES, extension) ? LANGUAGES[extension] : undefined
  return load?.() ?? Promise.resolve([])
}

/** Whether the file contains prose, whose long lines wrap. Code scrolls sideways. */
const isProse = (name: string): boolean =>
  /\.(md|markdown|txt|rst|log|csv)$|(^|\/)[^.]+$/i.test(name)

/** Uses the page's CSS variables, so the editor follows the theme. */
const highlightStyle = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--code-token-comment)' },
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: 'var(--code-token-keyword)' },
  { tag: [tags.string, tags.regexp], color: 'var(--code-token-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-token-constant)' },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.tagName],
    color: 'var(--code-token-function)',
  },
  { tag: [tags.attributeName, tags.propertyName], color: 'var(--code-token-parameter)' },
  { tag: [tags.punctuation, tags.operator], color: 'var(--code-token-punctuation)' },
  { tag: [tags.link, tags.url], color: 'var(--code-token-link)' },
  { tag: tags.heading, fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strong, fontWeight: '600' },
])

const editorTheme = EditorView.theme({
  '&': {
    height: '100%',
    fontSize: 'var(--text-note)',
    backgroundColor: 'transparent',
    color: 'var(--ink)',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.6' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--muted)', border: 'none' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in oklch, var(--hover) 55%, transparent)',
  },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'color-mix(in oklch, var(--accent) 26%, transparent)' },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--ink)' },
})

/** Marks a change that is no edit of the user. */
const replacement = Annotation.define<boolean>()

/** What must be replaced in `before` so that it becomes `after`; the selection around it stays. */
function changeBetween(before: string, after: string) {
  const shorter = Math.min(before.length, after.length)
  let from = 0
  while (from < shorter && before[from] === after[from]) from += 1
  let same = 0
  while (same < shorter - from && before.at(-1 - same) === after.at(-1 - same)) same += 1
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) }
}

/** An uncontrolled editor: `initial` is its first text, and `onChange` receives the text after every edit. */
export function CodeEditor({
  name,
  initial,
  revision = 0,
  label,
  onChange,
  onSave,
  line,
  focuses = false,
  isReadOnly = false,
}: {
  /** The file's name; its extension determines the language. */
  name: string
  initial: string
  /** With another number than before, `initial` replaces the text. */
  revision?: number
  label: string
  onChange: (text: string) => void
  onSave: () => void
  /** The line to scroll to when the editor opens, counted from 1. */
  line?: number | undefined
  /** Whether it takes the focus when it opens. */
  focuses?: boolean
  /** Whether the text can only be read and copied. */
  isReadOnly?: boolean
}) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView>(null)
  const call = useNewest({ onChange, onSave })
  // biome-ignore lint/correctness/useExhaustiveDependencies: callers change `key` for another text, which creates a new editor
  useEffect(() => {
    const parent = host.current
    if (parent === null) return
    const language = new Compartment()
    const view = new EditorView({
      parent,
      state: EditorState.create({
        doc: initial,
        extensions: [
          keymap.of([
            {
              key: 'Mod-s',
              run: () => {
                if (!isReadOnly) call.current.onSave()
                return true
              },
            },
          ]),
          basicSetup,
          isProse(name) ? EditorView.lineWrapping : [],
          language.of([]),
          syntaxHighlighting(highlightStyle),
          editorTheme,
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({
            'aria-label': label,
            ...(isReadOnly ? { 'aria-readonly': 'true' } : {}),
          }),
          EditorView.updateListener.of((update) => {
            const isOwn = update.transactions.some((one) => one.annotation(replacement) === true)
            if (update.docChanged && !isOwn) call.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    editor.current = view
    let isUnmounted = false
    void languageOf(name).then((loaded) => {
      if (!isUnmounted) view.dispatch({ effects: language.reconfigure(loaded) })
    })
    if (line !== undefined && line <= view.state.doc.lines)
      view.dispatch({
        effects: EditorView.scrollIntoView(view.state.doc.line(line).from, { y: 'center' }),
        selection: { anchor: view.state.doc.line(line).from },
      })
    if (focuses) focusText(parent)
    return () => {
      isUnmounted = true
      view.destroy()
    }
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: `initial` alone may be the same text as before
  useEffect(() => {
    const view = editor.current
    if (view === null || revision === 0) return
    // The editor writes every end of a line in the same way.
    const changes = changeBetween(view.state.doc.toString(), initial.replace(/\r\n?/g, '\n'))
    view.dispatch({ changes, annotations: replacement.of(true) })
  }, [revision])
  // Code reads from left to right in every language of the page.
  return <div ref={host} dir="ltr" className="h-full min-h-0 overflow-hidden" />
}
