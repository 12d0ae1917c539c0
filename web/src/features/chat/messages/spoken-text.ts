// The text of an answer for reading aloud: what a person would read out of the rendered answer.

/** What is not read: code with its caption and buttons, hidden texts, marks of footnotes and sources. */
const UNSPOKEN = 'figure, pre, .sr-only, .table-tools, button, sup'
/** What stands on lines of its own. A new line ends a sentence. */
const BLOCKS = 'p, li, h1, h2, h3, h4, h5, h6, tr, summary, dt, dd'

/** TeX without its markup: a formula is rendered twice, for the eye and as MathML, and has its source in the latter. */
const spokenFormula = (tex: string): string =>
  tex
    .replace(/\\[,;:!\s]/g, ' ')
    .replace(/[\\{}&]/g, ' ')
    .replace(/ +/g, ' ')
    .trim()

function spokenPart(rendered: Element): string {
  const copy = rendered.cloneNode(true)
  if (!(copy instanceof HTMLElement)) return ''
  for (const formula of copy.querySelectorAll('.katex'))
    formula.replaceWith(spokenFormula(formula.querySelector('annotation')?.textContent ?? ''))
  for (const part of copy.querySelectorAll(UNSPOKEN)) part.remove()
  for (const cell of copy.querySelectorAll('td, th'))
    if (cell.nextElementSibling !== null) cell.append(', ')
  for (const block of copy.querySelectorAll(BLOCKS)) block.append('\n')
  return copy.textContent
}

/** The text of the rendered answer without code. */
export const spokenText = (messageId: string): string =>
  [...document.querySelectorAll(`[data-message="${CSS.escape(messageId)}"] .prose`)]
    .map(spokenPart)
    .join('\n')
    .replace(/\s*\n\s*/g, '\n')
    .trim()
