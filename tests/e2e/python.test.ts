// Python in a real browser: statistics and plots from a project's table, live output, endless programs stopped.
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave, say } from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const TABLE = 'month,sold\nJanuary,12\nFebruary,19\nMarch,7\nApril,26\n'

/** What a model writes when no plotting package is installed: a chart as SVG, and a PNG encoded by hand. */
const STATISTICS = `import csv, statistics, binascii

with open("/workspace/sales.csv") as table:
    rows = list(csv.DictReader(table))
sold = [int(row["sold"]) for row in rows]

bars = "".join(
    f'<rect x="{20 + 70 * i}" y="{180 - 6 * n}" width="50" height="{6 * n}" fill="#3b6ea5"/>'
    f'<text x="{45 + 70 * i}" y="196" font-size="11" text-anchor="middle">{rows[i]["month"]}</text>'
    for i, n in enumerate(sold)
)
with open("/output/sales.svg", "w") as plot:
    plot.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="310" height="205">{bars}</svg>')

def number(value):
    return value.to_bytes(4, "big")

def png(width, height, pixel):
    raw = b"".join(b"\\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))
    low, high = 1, 0
    for byte in raw:
        low = (low + byte) % 65521
        high = (high + low) % 65521
    packed = b"\\x78\\x01\\x01" + len(raw).to_bytes(2, "little") + (65535 - len(raw)).to_bytes(2, "little") + raw + number(high << 16 | low)
    def part(kind, data):
        return number(len(data)) + kind + data + number(binascii.crc32(kind + data))
    head = number(width) + number(height) + bytes([8, 2, 0, 0, 0])
    return b"\\x89PNG\\r\\n\\x1a\\n" + part(b"IHDR", head) + part(b"IDAT", packed) + part(b"IEND", b"")

with open("/output/heat.png", "wb") as plot:
    plot.write(png(120, 120, lambda x, y: (2 * x, 60, 2 * y)))

print(f"{len(sold)} months")
{"mean": statistics.mean(sold), "median": statistics.median(sold), "best": max(rows, key=lambda row: int(row["sold"]))["month"]}`

const python = (args: Record<string, unknown>) =>
  turn.toolCalls([{ name: 'execute_python', arguments: args }])

/** Expands a card. One with output expands by itself while it runs, and is collapsed after a reload. */
async function unfold(card: Locator): Promise<void> {
  if ((await card.getAttribute('aria-expanded')) === 'false') await card.click()
}

describeInBrowser('Python in the page', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({
      config: scripted(upstream),
      webRoot: visitor.webRoot(),
    })
  })
  afterAll(() => upstream.close())

  test("a question about a project's table is answered with plots that are visible without a click", async () => {
    const { json } = await server.call('POST', '/api/projects', { body: { name: 'Sales' } })
    await server.call('PUT', `/api/projects/${json.data.id}/files/sales.csv`, {
      body: { content: TABLE },
    })
    upstream.enqueue(
      python({ code: STATISTICS, files: ['*.csv'] }),
      turn.text('On average **16** a month; April was best.'),
    )
    const page = await visitor.open(`${server.url}/?project=${json.data.id}`)
    await page.getByRole('button', { name: 'Project: Sales' }).waitFor()
    await say(page, 'What do my sales look like?')
    await page.getByText('April was best').waitFor()
    const look = async (): Promise<void> => {
      for (const [name, width] of [
        ['sales.svg', 310],
        ['heat.png', 120],
      ] as const) {
        const picture = page.getByRole('img', { name })
        await picture.waitFor()
        await page.waitForFunction(`[...document.images].every(({ complete }) => complete)`)
        const drawn = await page.evaluate(
          `[...document.images].find(({ alt }) => alt === '${name}').naturalWidth`,
        )
        expect(drawn, name).toBe(width)
      }
      await unfold(page.getByRole('button', { name: /^Run Python.*done/ }))
      await page.getByText('"mean": 16').waitFor()
      await page.locator('pre', { hasText: 'import csv, statistics' }).waitFor()
    }
    await look()
    await expectAccessible(page)

    // Programs in an answer run without the model.
    const PROGRAM = [
      'import statistics',
      'rows = open("/workspace/sales.csv").read().split()[1:]',
      'sold = [int(row.split(",")[1]) for row in rows]',
      'open("/output/own.svg", "w").write(\'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"/>\')',
      'print("by hand:", statistics.mean(sold))',
    ].join('\n')
    const ENDLESS = 'while True:\n    pass'
    upstream.enqueue(turn.text(`\`\`\`python\n${PROGRAM}\n\`\`\`\n\n\`\`\`py\n${ENDLESS}\n\`\`\``))
    await say(page, 'How would I do that myself?')
    const answer = page.locator('article[data-answer]').last()
    const run = answer.getByRole('button', { name: 'Run', exact: true })
    await expect.poll(() => run.count()).toBe(2)
    await page.getByRole('button', { name: 'Regenerate' }).nth(1).waitFor()
    const asked = upstream.requests.length
    await run.first().click()
    const result = page.getByRole('region', { name: 'Result of the program' })
    await result.getByText('by hand: 16').waitFor()
    await result.getByText('Done').waitFor()
    // Images have their own shape: 90 x 20, and the square one above.
    const shapeOf = async (name: string): Promise<number> => {
      const box = await page.getByRole('img', { name }).first().boundingBox()
      return (box?.width ?? 0) / (box?.height ?? 1)
    }
    await result.getByRole('img', { name: 'own.svg' }).waitFor()
    await expect.poll(() => shapeOf('own.svg')).toBeCloseTo(90 / 20, 0)
    expect(await shapeOf('heat.png')).toBeCloseTo(1, 1)
    await expectAccessible(page)
    await result.getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => result.count()).toBe(0)
    await run.nth(1).click()
    await result.getByText('Running').waitFor()
    await result.getByRole('button', { name: 'Stop' }).click()
    await result.getByText('Stopped').waitFor()
    expect(upstream.requests.length).toBe(asked)
    await page.reload()
    await page.getByText('April was best').waitFor()
    await look()
    await leave(page)
  })

  test('an endless program shows its state and output until the stop button ends it', async () => {
    upstream.enqueue(
      python({
        code: 'n = 0\nwhile True:\n    n += 1\n    if n % 2_000_000 == 0: print("still", n)',
      }),
    )
    const page = await visitor.open(server.url)
    await say(page, 'Count for ever.')
    const card = page.getByRole('button', { name: /^Run Python/ })
    await card.getByText('running').first().waitFor()
    // The output is visible without a click.
    await page.locator('pre', { hasText: 'still 2000000' }).waitFor()
    await card.getByText(/^\d+ s$/).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
    await card
      .getByText(/failed|interrupted/)
      .first()
      .waitFor({ state: 'attached' })
    await leave(page)
  })

  test('a program that is not allowed is explained in the language of the page, run by its reader or by the agent', async () => {
    const code = 'import ctypes\nprint(1)'
    upstream.enqueue(
      python({ code: 'import ctypes', strictness: 'strict' }),
      turn.text(`Selbst ausführen:\n\n\`\`\`python\n${code}\n\`\`\``),
    )
    const page = await visitor.open(server.url, { language: 'de-DE' })
    await say(page, 'Geht das?')
    await page.getByRole('button', { name: 'Ausführen', exact: true }).click()
    const result = page.getByRole('region', { name: 'Ergebnis des Programms' })
    await result.getByText('Zeile 1: das Modul ctypes').waitFor()
    expect(await result.innerText()).not.toMatch(/not allowed|import of/i)
    const card = page.getByRole('button', { name: /^Python ausführen/ })
    await unfold(card)
    await expect.poll(() => page.getByText('Zeile 1: das Modul ctypes').count()).toBe(2)
    await leave(page)
  })

  test('an endless program ends at its time limit, and its result says so', async () => {
    upstream.enqueue(
      python({ code: 'print("begun")\nwhile True:\n    pass', strictness: 'strict' }),
      turn.text('It did not end by itself.'),
    )
    const page = await visitor.open(server.url)
    await say(page, 'Try this.')
    await page.getByText('It did not end by itself.').waitFor()
    await unfold(page.getByRole('button', { name: /^Run Python.*failed/ }))
    await page.locator('pre', { hasText: 'Stopped at the time limit' }).waitFor()
    await page.locator('pre', { hasText: 'begun' }).first().waitFor()
    expect(JSON.stringify(upstream.requests.at(-1)?.messages)).toContain('time limit')
    await leave(page)
  })
})
