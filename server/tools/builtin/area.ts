// The `calculate_area` tool: one row for each shape.
import { z } from 'zod'
import { defineTool, fail, succeed, type ToolDefinition } from '../definition.ts'

const length = z.number().positive().max(1e150)
const Sizes = z.object({
  radius: length.optional().describe('circle, sector'),
  diameter: length.optional().describe('circle, instead of radius'),
  width: length.optional().describe('rectangle'),
  length: length.optional().describe('rectangle, instead of height'),
  height: length.optional().describe('rectangle, triangle, parallelogram, trapezoid'),
  side: length.optional().describe('square, regular_polygon'),
  base: length.optional().describe('triangle, parallelogram'),
  base_a: length.optional().describe('trapezoid: one of the parallel sides'),
  base_b: length.optional().describe('trapezoid: the other parallel side'),
  side_a: length.optional().describe('triangle by its three sides'),
  side_b: length.optional().describe('triangle by its three sides'),
  side_c: length.optional().describe('triangle by its three sides'),
  semi_major: length.optional().describe('ellipse: longer half axis'),
  semi_minor: length.optional().describe('ellipse: shorter half axis'),
  diagonal_a: length.optional().describe('rhombus'),
  diagonal_b: length.optional().describe('rhombus'),
  angle: z.number().positive().max(360).optional().describe('sector: degrees'),
  sides: z.int().min(3).max(1_000_000).optional().describe('regular_polygon: number of sides'),
})
type Size = keyof z.infer<typeof Sizes>

interface Way {
  needs: readonly Size[]
  formula: string
  area(...sizes: number[]): number
}

const ways = {
  circle: [
    { needs: ['radius'], formula: 'π·radius²', area: (r = 0) => Math.PI * r ** 2 },
    { needs: ['diameter'], formula: 'π·diameter²/4', area: (d = 0) => (Math.PI * d ** 2) / 4 },
  ],
  rectangle: [
    { needs: ['width', 'height'], formula: 'width·height', area: (w = 0, h = 0) => w * h },
    { needs: ['width', 'length'], formula: 'width·length', area: (w = 0, l = 0) => w * l },
  ],
  square: [{ needs: ['side'], formula: 'side²', area: (a = 0) => a ** 2 }],
  triangle: [
    { needs: ['base', 'height'], formula: 'base·height/2', area: (b = 0, h = 0) => (b * h) / 2 },
    {
      needs: ['side_a', 'side_b', 'side_c'],
      formula: '√(s(s−a)(s−b)(s−c)) with s = (a+b+c)/2',
      area: (a = 0, b = 0, c = 0) => {
        const s = (a + b + c) / 2
        return Math.sqrt(s * (s - a) * (s - b) * (s - c))
      },
    },
  ],
  parallelogram: [
    { needs: ['base', 'height'], formula: 'base·height', area: (b = 0, h = 0) => b * h },
  ],
  trapezoid: [
    {
      needs: ['base_a', 'base_b', 'height'],
      formula: '(base_a+base_b)·height/2',
      area: (a = 0, b = 0, h = 0) => ((a + b) * h) / 2,
    },
  ],
  ellipse: [
    {
      needs: ['semi_major', 'semi_minor'],
      formula: 'π·semi_major·semi_minor',
      area: (a = 0, b = 0) => Math.PI * a * b,
    },
  ],
  rhombus: [
    {
      needs: ['diagonal_a', 'diagonal_b'],
      formula: 'diagonal_a·diagonal_b/2',
      area: (p = 0, q = 0) => (p * q) / 2,
    },
  ],
  sector: [
    {
      needs: ['radius', 'angle'],
      formula: 'π·radius²·angle/360',
      area: (r = 0, angle = 0) => (Math.PI * r ** 2 * angle) / 360,
    },
  ],
  regular_polygon: [
    {
      needs: ['sides', 'side'],
      formula: 'sides·side²/(4·tan(π/sides))',
      area: (n = 0, a = 0) => (n * a ** 2) / (4 * Math.tan(Math.PI / n)),
    },
  ],
} as const satisfies Record<string, readonly Way[]>

type Shape = keyof typeof ways
const Shape = z.enum(Object.keys(ways) as [Shape, ...Shape[]]) // keys of the table above

export const calculateArea: ToolDefinition = defineTool({
  name: 'calculate_area',
  description:
    'Calculates the area of a shape from its sizes, all in the same unit; the answer is in that unit squared. ' +
    `Needs: ${Object.entries(ways)
      .map(([shape, list]) => `${shape} (${list.map((way) => way.needs.join(', ')).join(' or ')})`)
      .join('; ')}.`,
  category: 'basic',
  riskLevel: 'low',
  cacheable: true,
  timeoutMs: 5_000,
  input: Sizes.extend({ shape: Shape.describe('Which shape.') }),
  handler: async ({ shape, ...sizes }) => {
    const known: readonly Way[] = ways[shape]
    for (const way of known) {
      const given = way.needs.map((name) => sizes[name])
      if (!given.every((size) => size !== undefined)) continue
      const area = way.area(...given)
      if (!Number.isFinite(area) || (area === 0 && shape === 'triangle'))
        return fail('There is no such shape with these sizes.')
      return succeed({ shape, area, formula: way.formula })
    }
    const needed = known.map((way) => way.needs.join(', ')).join(' or ')
    return fail(`A ${shape.replace('_', ' ')} needs: ${needed}.`)
  },
})
