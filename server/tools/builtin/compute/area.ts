// The `calculate_area` tool: one row per shape.
import { z } from 'zod'
import { defineTool, fail, succeed, type ToolDefinition } from '../../definition.ts'

const MAX_LENGTH = 1e150
/** A refinement adds nothing to the schema. A limit in the schema would appear 16 times in every request to a model. */
const length = z
  .number()
  .refine((size) => size > 0 && size <= MAX_LENGTH, 'must be a positive number')
  .optional()
/** Only the tool's description says which measurements each shape needs. */
const Sizes = z.object({
  radius: length,
  diameter: length,
  width: length,
  length,
  height: length,
  side: length,
  base: length,
  base_a: length,
  base_b: length,
  side_a: length,
  side_b: length,
  side_c: length,
  semi_major: length,
  semi_minor: length,
  diagonal_a: length,
  diagonal_b: length,
  angle: z
    .number()
    .refine((angle) => angle > 0 && angle <= 360, 'must be more than 0 and at most 360')
    .optional()
    .describe('Degrees.'),
  sides: z.int().min(3).max(1_000_000).optional().describe('Number of sides.'),
})
type Size = keyof z.infer<typeof Sizes>

interface Way {
  needs: readonly Size[]
  formula: string
  area(...sizes: number[]): number
}

const WAYS = {
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

type Shape = keyof typeof WAYS
const Shape = z.enum(Object.keys(WAYS) as [Shape, ...Shape[]]) // keys of the table above

export const calculateArea: ToolDefinition = defineTool({
  name: 'calculate_area',
  description:
    'Calculates the area of a plane shape. Give positive sizes in one unit; the result is in that unit squared. Required sizes: ' +
    `${Object.entries(WAYS)
      .map(([shape, list]) => `${shape}: ${list.map((way) => way.needs.join(', ')).join(' or ')}`)
      .join('; ')}. base_a and base_b are the parallel sides.`,
  category: 'basic',
  riskLevel: 'low',
  cacheable: true,
  timeoutMs: 5_000,
  input: Sizes.extend({ shape: Shape }),
  handler: async ({ shape, ...sizes }) => {
    const known: readonly Way[] = WAYS[shape]
    for (const way of known) {
      const given = way.needs.map((name) => sizes[name])
      if (!given.every((size) => size !== undefined)) continue
      const area = way.area(...given)
      if (!Number.isFinite(area) || (area === 0 && shape === 'triangle'))
        return fail('No shape with these sizes exists.')
      return succeed({ shape, area, formula: way.formula })
    }
    const needed = known.map((way) => way.needs.join(', ')).join(' or ')
    return fail(`A ${shape.replace('_', ' ')} needs: ${needed}.`)
  },
})
