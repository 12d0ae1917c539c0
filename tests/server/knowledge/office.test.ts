// What is read from Office documents that people write: tables, parts of a page, formulas, dates, notes of slides.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { formulaText } from '../../../server/knowledge/read-document/docx-sections.ts'
import { readPreview, readWholeText } from '../../../server/knowledge/read-document.ts'
import { officeArchive, pdfOf, presentation, workbook } from '../../support/documents.ts'

const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(join(import.meta.dirname, '../../fixtures/documents', name)))
const textOf = async (name: string, bytes = fixture(name)): Promise<string> =>
  (await readWholeText(name, new Uint8Array(bytes))).text

describe('a Word document', () => {
  test('keeps empty cells, so that values stay in their columns', async () => {
    expect(await textOf('table-empty-cells.docx')).toContain(
      'Name | Mon | Tue | Wed\nAda |  | yes | \nBob | yes |  | yes\n |  |  | total 3',
    )
  })

  test('repeats a cell merged over rows, and leaves room for one merged over columns', async () => {
    expect(await textOf('table-merged.docx')).toContain(
      'Year | Result | \n2024 | North | 10\n2024 | South | 20',
    )
  })

  test('separates the paragraphs of a cell', async () => {
    expect(await textOf('lists.docx')).toContain('k | line 1 line 2')
  })

  test('has its header, footer, notes, text boxes, formulas and ticked boxes, each once', async () => {
    const text = await textOf('parts.docx')
    for (const part of [
      'Letterhead: Example Ltd',
      'Invoice no. 4711',
      'Source of the claim',
      'Inside a text box',
      'Inside a content control',
      'Deadline is Friday',
      '$E=mcx^{2}$',
      'Agree: [x]',
    ])
      expect(text.split(part), part).toHaveLength(2)
  })

  test('has the text of simple fields, of characters with a reading above them, and of other directions', async () => {
    const run = (text: string): string => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`
    const ruby = `<w:r><w:ruby><w:rubyPr><w:lid w:val="ja-JP"/></w:rubyPr><w:rt>${run('とうきょう')}</w:rt><w:rubyBase>${run('東京')}</w:rubyBase></w:ruby></w:r>`
    const field = `<w:fldSimple w:instr=" MERGEFIELD Name ">${run('Mira Example')}</w:fldSimple>`
    const bytes = officeArchive({
      'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p>${run('Dear ')}${field}<w:fldSimple w:instr=" DATE "/></w:p><w:p>${ruby}${run('へ')}</w:p><w:p><w:dir w:val="rtl">${run('שלום')}</w:dir></w:p></w:body></w:document>`,
    })
    expect(await textOf('letter.docx', bytes)).toBe('Dear Mira Example\n\n東京へ\n\nשלום')
  })

  test('has names without backslashes, and lines that only look like headings as they are', async () => {
    const text = await textOf('names.docx')
    expect(text).toContain('Set MAX_RETRY_COUNT=5 and call get_user_name() in src/my_file_name.py.')
    expect(text).toContain('Price [net]: 5 * 3 # note')
    expect(text).toContain('1. This is typed, not a list.')
  })

  test('is known by its content, whatever its name', async () => {
    for (const name of ['doc.bin', 'with-macros.docm', 'named.xlsx'])
      expect(await textOf(name, fixture('travel.docx')), name).toContain('Book early')
    // As Word on the web writes it.
    const {
      'word/document.xml': body,
      '_rels/.rels': links,
      ...parts
    } = unzipSync(fixture('travel.docx'))
    if (body === undefined || links === undefined) throw new Error('the fixture has other parts')
    const numbered = zipSync({
      ...parts,
      'word/document2.xml': body,
      '_rels/.rels': strToU8(strFromU8(links).replace('word/document.xml', 'word/document2.xml')),
    })
    expect(await textOf('numbered.docx', numbered)).toContain('Book early')
  })
})

describe('the preview', () => {
  const previewOf = (name: string, bytes = fixture(name)) =>
    readPreview(name, new Uint8Array(bytes))

  test('of a Word document has headings, paragraphs, lists and tables', async () => {
    const lists = await previewOf('lists.docx')
    if (lists.kind !== 'text') throw new Error(lists.kind)
    expect(lists.blocks.some(({ kind }) => kind === 'item')).toBe(true)
    const [table] = lists.blocks.filter(({ kind }) => kind === 'table')
    expect(table).toMatchObject({ rows: expect.arrayContaining([['k', 'line 1 line 2']]) })
    const travel = await previewOf('travel.docx')
    if (travel.kind !== 'text') throw new Error(travel.kind)
    expect(travel.blocks.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['heading', 'paragraph']),
    )
  })

  test('of a workbook has the rows of its sheets, and says when there are more', async () => {
    const row = (at: number) => `<row r="${at}"><c r="A${at}"><v>${at}</v></c></row>`
    const long = workbook(Array.from({ length: 1_200 }, (_, at) => row(at + 1)).join(''))
    const preview = await previewOf('long.xlsx', long)
    if (preview.kind !== 'sheets') throw new Error(preview.kind)
    const [sheet] = preview.sheets
    expect(sheet).toMatchObject({ name: 'Sales & more', total_rows: 1_200 })
    expect(sheet?.rows).toHaveLength(1_000)
    expect(preview.truncated).toBe(true)
    const text = 'x'.repeat(2_000)
    const cells = Array.from({ length: 40 }, () => `<c t="str"><v>${text}</v></c>`).join('')
    const wide = workbook(Array.from({ length: 40 }, () => `<row>${cells}</row>`).join(''))
    const cut = await previewOf('wide.xlsx', wide)
    if (cut.kind !== 'sheets') throw new Error(cut.kind)
    expect(cut).toMatchObject({ sheets: [{ total_rows: 40 }], truncated: true })
    expect(cut.sheets[0]?.rows.length).toBeGreaterThan(5)
    expect(cut.sheets[0]?.rows.length).toBeLessThan(20)
  })

  test('of a presentation has its slides, and of a PDF its pages', async () => {
    expect(await previewOf('talk.pptx', presentation(['Welcome', 'Hotels']))).toEqual({
      kind: 'slides',
      slides: [
        { number: 1, text: 'Welcome\nsecond line', notes: '' },
        { number: 2, text: 'Hotels\nsecond line', notes: '' },
      ],
      truncated: false,
    })
    expect(await previewOf('a.pdf', pdfOf('One', '', 'Three'))).toMatchObject({
      kind: 'pages',
      pages: [
        { number: 1, text: 'One' },
        { number: 3, text: 'Three' },
      ],
    })
  })

  test('of a damaged file says what is wrong', async () => {
    const broken = previewOf('broken.xlsx', Buffer.from('PK\u0003\u0004 something else'))
    await expect(broken).rejects.toMatchObject({ failure: { reason: 'document_office_damaged' } })
    await expect(previewOf('a.txt', Buffer.from('text'))).rejects.toMatchObject({
      failure: { reason: 'document_unreadable' },
    })
  })
})

describe('a formula', () => {
  const math = (xml: string): string => formulaText(`<m:oMath>${xml}</m:oMath>`)
  const text = (value: string): string => `<m:r><m:t>${value}</m:t></m:r>`

  test('has its fractions, roots, sums, brackets and matrices', () => {
    expect(math(`<m:f><m:num>${text('a')}</m:num><m:den>${text('b &lt; c')}</m:den></m:f>`)).toBe(
      '\\frac{a}{b < c}',
    )
    expect(math(`<m:rad><m:deg>${text('3')}</m:deg><m:e>${text('x')}</m:e></m:rad>`)).toBe(
      '\\sqrt[3]{x}',
    )
    expect(
      math(
        `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${text('i=1')}</m:sub><m:sup>${text('n')}</m:sup><m:e>${text('i')}</m:e></m:nary>`,
      ),
    ).toBe('∑_{i=1}^{n} i')
    expect(
      math(
        `<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e>${text('x')}</m:e></m:d>`,
      ),
    ).toBe('[x]')
    expect(math(`<m:m><m:mr><m:e>${text('1')}</m:e><m:e>${text('2')}</m:e></m:mr></m:m>`)).toBe(
      '\\begin{matrix} 1 & 2 \\end{matrix}',
    )
  })
})

describe('a workbook', () => {
  test('shows dates of Chinese and Japanese Excel, hours beyond a day, percent and leading zeros', async () => {
    const text = await textOf('dates.xlsx')
    for (const row of [
      'Chinese or Japanese date (31)\t2026-07-02',
      'Chinese date (57)\t2026-07-02',
      'hours worked, 30:15 (46)\t30:15',
      'hours worked, 30:15 (custom [h]:mm)\t30:15',
      'percent 15 %\t15%',
      'postcode 01067 (00000)\t01067',
      '1 Jan 1900\t1900-01-01',
      'time only 08:30\t08:30:00',
    ])
      expect(text).toContain(row)
  })

  test('is read whatever prefix its references have', async () => {
    const parts = workbook('<row r="1"><c r="A1"><v>7</v></c></row>')
    const xml =
      '<workbook xmlns:rel="r"><sheets><sheet name="One" sheetId="1" rel:id="r0"/></sheets></workbook>'
    const bytes = zipSync({ ...unzipSync(parts), 'xl/workbook.xml': strToU8(xml) })
    expect(await textOf('other.xlsx', bytes)).toContain('7')
  })

  test('shows a formula whose result is not stored', async () => {
    const rows =
      '<row r="1"><c r="A1"><v>2</v></c><c r="B1"><f>A1*2</f></c><c r="C1"><f>A1*3</f><v>6</v></c></row>'
    expect(await textOf('sums.xlsx', workbook(rows))).toContain('2\t=A1*2\t6')
  })
})

describe('a presentation', () => {
  test('has the rows of its tables and what the speaker noted', async () => {
    const paragraph = (text: string): string => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`
    const row = (...cells: string[]): string =>
      `<a:tr>${cells.map((cell) => `<a:tc><a:txBody>${paragraph(cell)}</a:txBody></a:tc>`).join('')}</a:tr>`
    const bytes = officeArchive({
      'ppt/presentation.xml':
        '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId r:id="r0"/></p:sldIdLst></p:presentation>',
      'ppt/_rels/presentation.xml.rels':
        '<Relationships><Relationship Id="r0" Target="slides/slide1.xml"/></Relationships>',
      'ppt/slides/slide1.xml': `<p:sld><p:sp>${paragraph('Results')}</p:sp><a:tbl>${row('Region', 'Sales')}${row('North', '')}${row('', '20')}</a:tbl></p:sld>`,
      'ppt/slides/_rels/slide1.xml.rels':
        '<Relationships><Relationship Id="r1" Target="../notesSlides/notesSlide1.xml"/></Relationships>',
      'ppt/notesSlides/notesSlide1.xml': `<p:notes><p:sp><p:nvPr><p:ph type="sldNum"/></p:nvPr>${paragraph('1')}</p:sp><p:sp><p:nvPr><p:ph type="body"/></p:nvPr>${paragraph('Thank the team')}</p:sp></p:notes>`,
    })
    expect(await textOf('talk.pptx', bytes)).toBe(
      '[Page 1]\nResults\nRegion | Sales\nNorth | \n | 20\nNotes: Thank the team',
    )
  })
})

describe('a file written by LibreOffice', () => {
  test('has the comments and notes of a contract, and none of its deleted words', async () => {
    const text = await textOf('contract.docx')
    for (const part of ['Kopf erste Seite', 'Die Fußnote', 'Die Endnote', 'Bitte prüfen'])
      expect(text.split(part), part).toHaveLength(2)
    expect(text).toContain('Vor nach eingefügt.')
    expect(text).toContain('Mit Fußnote[1] und Endnote[2].')
  })

  test('has a roster with cells merged in all directions, and a table in a cell', async () => {
    expect(await textOf('roster.docx')).toContain(
      [
        'Name | Mon | Tue | Wed',
        'Ada | frei |  | ja',
        'Ada |  | ja | beide',
        'Bob | eins zwei |  | beide',
        'Sum | total 3 days |  | ',
        'in i1 i2 |  | x | ',
      ].join('\n'),
    )
  })

  test('has merged cells, dates, hours, percents and lines within a cell of a sheet', async () => {
    const text = await textOf('figures.xlsx')
    expect(text).toContain('Titel über zwei\t\tC\n2026-03-01\t30:15\t15.5%')
    expect(text).toContain('Zeile eins Zeile zwei\t12345678901234\t0.1')
  })

  test('has the grouped texts, tables and notes of slides', async () => {
    expect(await textOf('quarter.pptx')).toBe(
      '[Page 1]\nQuartal & Zahlen\nIn einer Gruppe\nRegion | Umsatz\nNord und Süd |\nNotes: Hier Pause machen\n[Page 2]\nPunkt eins\ndarunter',
    )
  })

  test('has the notes and all pages of a PDF', async () => {
    const text = await textOf('contract.pdf')
    for (const part of ['Kopf erste Seite', 'Die Fußnote', '[Page 2]\ni Die Endnote'])
      expect(text).toContain(part)
  })
})

test('a page that was saved with the wrong declaration is read as what it is', async () => {
  expect(await textOf('zapis-1250.html')).toContain('Žádný příští termín, jen „poznámka“.')
})

test('an archive that is no document is refused, whatever its name', async () => {
  const archive = zipSync({ 'notes.txt': strToU8('hello') })
  await expect(readWholeText('notes.zip', archive)).rejects.toMatchObject({
    failure: { reason: 'document_archive_unsupported' },
  })
})
