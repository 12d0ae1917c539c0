// The `plan` tool: what the model means to do, as a checklist that the person sees and changes while it works.
import { z } from 'zod'
import { PlanItems } from '../../../protocol/runs/plan.ts'
import { defineTool, fail, succeed } from '../../definition.ts'

/** The tool `plan`. Each call replaces the plan of the run. */
export const planTool = defineTool({
  name: 'plan',
  description:
    'Shows the user a checklist of your steps. Use it for tasks of three or more steps; call it again with all steps whenever one begins, ends or is dropped. Set needs_approval only if the user should agree before you begin.',
  category: 'agent',
  riskLevel: 'low',
  timeoutMs: 20_000,
  input: z.object({
    items: PlanItems.describe('All steps in order, at most 30.'),
    needs_approval: z.boolean().default(false).describe('Wait until the user agrees.'),
  }),
  asksAlways: ({ needs_approval: isAsked }) => isAsked,
  // One plan at a time, in the order of the calls.
  orderKey: () => 'plan',
  async preview({ items }) {
    const display = items.map(({ text }, index) => `${index + 1}. ${text}`).join('\n')
    return { display, display_code: 'plan', display_params: { steps: display } }
  },
  async handler({ items, needs_approval: wasAsked }, { plan }) {
    if (plan === undefined) return fail('Only the agent that talks with the user has a plan.')
    const { outcome, plan: shown } = await plan.replace(items, wasAsked)
    if (outcome === 'kept')
      return fail(
        'The user has changed the plan meanwhile. Follow theirs, and call plan again only to change it further.',
        { data: { items: shown.items } },
      )
    const done = items.filter(({ state }) => state === 'done').length
    // The model has not seen what the person made of its call.
    if (outcome === 'edited')
      return succeed({ note: 'The user has changed the plan. Follow it.', items: shown.items })
    return succeed({ items: items.length, done }, { display: `${done}/${items.length}` })
  },
})
