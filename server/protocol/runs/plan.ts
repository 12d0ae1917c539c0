// The plan of an answer: what the model means to do, as a person sees and changes it while it works.
import { z } from 'zod'
import { RunId } from '../ids.ts'

/** Steps of one plan. */
export const MAX_PLAN_ITEMS = 30

/** One step of a plan. `dropped`: it is not needed any more. */
export const PlanItem = z.object({
  id: z.string().trim().min(1).max(40).describe('Short and distinct, for example "1".'),
  text: z.string().trim().min(1).max(300),
  state: z.enum(['open', 'doing', 'done', 'dropped']),
})
export type PlanItem = z.infer<typeof PlanItem>

/** The steps of a plan, whose ids are distinct. */
export const PlanItems = z
  .array(PlanItem)
  .max(MAX_PLAN_ITEMS)
  .refine((items) => new Set(items.map(({ id }) => id)).size === items.length, {
    error: 'each item needs an id of its own',
  })

/** The person who last changed a plan; null if the model wrote it. */
const EditedBy = z.object({ id: z.string(), name: z.string() }).nullable()

/** The plan that an answer follows. */
export const Plan = z.object({ items: z.array(PlanItem), edited_by: EditedBy }).meta({ id: 'Plan' })
export type Plan = z.infer<typeof Plan>

/** The plan of a run has changed. */
export const PlanEvent = Plan.extend({ event: z.literal('plan'), run_id: RunId })
export type PlanEvent = z.infer<typeof PlanEvent>

/** The request body of `PUT /api/runs/:id/plan`. */
export const EditPlanBody = z.object({ items: PlanItems }).meta({ id: 'EditPlan' })
