// Schedules as configured, with what they need of the other modules: their rules, the agent's hand on them, their clock.

import type { Registry } from 'prom-client'
import type { Announcer } from '../changes/change-log.ts'
import { createConversationStart, startingApproval } from '../chat/new-conversation.ts'
import { appError } from '../errors.ts'
import { removeScheduleGrants } from '../grants/remove.ts'
import { SOLE_WORKER } from '../lib/work-claims.ts'
import { countOccurrences } from '../observability/counters.ts'
import { readRunOptions } from '../runs/state.ts'
import { agentSchedules } from '../schedules/agent-schedules.ts'
import { commandRunner } from '../schedules/check-command.ts'
import { patternMatcher } from '../schedules/check-settings.ts'
import { createScheduleClock, type ScheduleClock } from '../schedules/clock.ts'
import { projectFiles } from '../schedules/project-files.ts'
import { createSchedules, type Schedules } from '../schedules/schedules.ts'
import type { Services } from '../services.ts'
import type { ScheduleTools } from '../tools/builtin/schedules/schedule-tools.ts'
import type { createPageLoader } from '../tools/builtin/web/fetch-page.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { Base } from './base.ts'

/** What people and tools do with schedules. */
export function createConfiguredSchedules(
  { config, database, store, access, box, now }: Base,
  {
    channels,
    changes,
    offeredModels,
    skills,
    workspace,
    webhooks,
    registry,
  }: Pick<
    Services,
    'channels' | 'changes' | 'offeredModels' | 'skills' | 'workspace' | 'webhooks'
  > & {
    registry(): ToolRegistry
  },
): Schedules {
  return createSchedules({
    database,
    store,
    box,
    audit: store.audit,
    announce: changes.publish,
    scheduleEnded: webhooks.events.scheduleEnded,
    afterCommit: webhooks.afterCommit,
    removeGrants: (tx, id, actor) => removeScheduleGrants(tx, id, actor, { store, now }),
    skills,
    now,
    minIntervalSeconds: config.schedules.min_interval,
    maxPerUser: (userId) => access.quota(userId).schedules ?? config.schedules.max_per_user,
    assertAllowed: (userId) => access.assertFeature(userId, 'schedules'),
    assertApprovalMode: access.assertApprovalMode,
    assertOffered: offeredModels.assertOffered,
    channelNames: async (userId) => (await channels.list(userId)).map(({ name }) => name),
    matchesPattern: patternMatcher(workspace),
    allowsCommands: (userId) => registry().snapshot(userId).get('exec') !== undefined,
  })
}

/** Schedules for the tools of runs. */
export const toScheduleTools = (
  { store, access, now, settings }: Base,
  schedules: Schedules,
): ScheduleTools =>
  agentSchedules({
    store,
    now,
    schedules,
    async optionsOf(runId) {
      const run = await store.runs.find(runId)
      if (run === undefined) throw appError('run_not_found')
      return readRunOptions(run.options)
    },
    startingApproval: (place) => startingApproval(place, { store, access }),
    defaultApproval: () => settings.current().effective.default_approval,
  })

/** The clock. It does nothing before it leads. */
export function createConfiguredClock(
  base: Base,
  parts: Pick<
    Services,
    | 'chat'
    | 'schedules'
    | 'webhooks'
    | 'push'
    | 'channels'
    | 'registry'
    | 'workspace'
    | 'receipts'
    | 'offeredModels'
    | 'changes'
  > & {
    readPage: ReturnType<typeof createPageLoader>
    announcer: Announcer
    metrics: Registry
  },
): ScheduleClock {
  const { config, database, store, access, log, now, clock, instance, claims } = base
  return createScheduleClock({
    database,
    store,
    schedules: parts.schedules,
    now,
    every: clock.every,
    log,
    receipts: parts.receipts,
    announce: parts.changes.publish,
    followRuns: parts.announcer.followRuns,
    observe: countOccurrences(parts.metrics),
    isEnabled: config.schedules.enabled,
    isShared: instance.sharing !== undefined,
    catchUpHours: config.schedules.catch_up_hours,
    maxFailures: config.schedules.max_failures,
    keepRuns: config.schedules.keep_runs,
    assertAllowed: parts.schedules.assertAllowed,
    makeDiff: parts.workspace.makeDiff,
    chat: parts.chat,
    channels: parts.channels,
    push: parts.push,
    scheduleEnded: parts.webhooks.events.scheduleEnded,
    afterCommit: parts.webhooks.afterCommit,
    conversationStart: createConversationStart({
      store,
      access,
      offeredModels: parts.offeredModels,
    }),
    claims: claims ?? SOLE_WORKER,
    readPage: parts.readPage,
    ...projectFiles(parts.workspace),
    matchesPattern: patternMatcher(parts.workspace),
    runCommand: commandRunner(parts.registry),
  })
}
