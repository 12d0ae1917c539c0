// Converts rendered Markdown for other programs: HTML without controls, and tables as text for spreadsheets.

const ALLOWED_ATTRIBUTES = new Set(['href', 'colspan', 'rowspan', 'start', 'dir', 'align'])
const CONTROLS = 'button, figcaption, [aria-hidden="true"], .table-tools, script, style'

function plainCode(figure: Element): Element | null {
  const code = figure.querySelector('code')
  if (code === null) return null
  const block = document.createElement('pre')
  const inner = document.createElement('code')
  const lines = code.querySelectorAll('.code-group > *')
  inner.textContent = [...lines].map((line) => line.textContent ?? '').join('\n')
  block.append(inner)
  return block
}

/** The HTML of an element without the page's controls and styles, with formulas as TeX. */
export function plainHtml(element: Element): string {
  const copy = element.cloneNode(true)
  if (!(copy instanceof Element)) return ''
  for (const formula of copy.querySelectorAll('.katex')) {
    const tex = formula.querySelector('annotation')?.textContent ?? formula.textContent ?? ''
    formula.replaceWith(
      formula.parentElement?.matches('.katex-display') ? `$$${tex}$$` : `$${tex}$`,
    )
  }
  for (const figure of copy.querySelectorAll('figure')) {
    const code = plainCode(figure)
    if (code === null) figure.remove()
    else figure.replaceWith(code)
  }
  for (const part of copy.querySelectorAll('.prose-part')) part.replaceWith(...part.childNodes)
  for (const mark of copy.querySelectorAll('sup > button')) mark.replaceWith(mark.textContent ?? '')
  for (const control of copy.querySelectorAll(CONTROLS)) control.remove()
  for (const one of copy.querySelectorAll('*'))
    for (const { name } of [...one.attributes])
      if (!ALLOWED_ATTRIBUTES.has(name)) one.removeAttribute(name)
  return copy.innerHTML
}

/** Prefixes text that a spreadsheet would run as a formula with an apostrophe. Numbers stay numbers. */
const escapeFormula = (cell: string): string =>
  /^[=+@\t\r-]/.test(cell) && !/^[+-]?[\d.,\s]+%?$/.test(cell) ? `'${cell}` : cell

const quoted = (cell: string, separator: string): string =>
  cell.includes(separator) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell

/** The cells of a table as text: one line per row, quoted as in CSV where needed. */
export const tableText = (table: HTMLTableElement, separator: '\t' | ','): string =>
  [...table.rows]
    .map((row) =>
      [...row.cells]
        .map((cell) => quoted(escapeFormula(cell.textContent?.trim() ?? ''), separator))
        .join(separator),
    )
    .join('\n')
