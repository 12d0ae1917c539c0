// Schedules and the requests that start them.

export const SCHEDULE_FAILURES = {
  schedule_not_found: ['not_found', 'This schedule does not exist.'],
  schedules_off: ['not_found', 'Schedules are not available on this server or for this account.'],
  schedules_exhausted: [
    'quota_reached',
    'You have reached the limit of schedules ({{limit}}). Delete one that is no longer needed.',
  ],
  time_zone_needed: [
    'time_zone_needed',
    'In which time zone? Send `tz`, or set the time zone in the preferences.',
  ],
  time_zone_unknown: [
    'validation_failed',
    'There is no time zone “{{zone}}”. Use a name such as “Europe/Berlin”.',
  ],
  cron_invalid: [
    'validation_failed',
    '“{{cron}}” is not a cron pattern of five fields (minute, hour, day, month, weekday).',
  ],
  time_is_past: ['time_is_past', 'This time has passed. Choose a later one.'],
  never_due: ['never_due', '“{{cron}}” names a day that never comes.'],
  too_often: ['too_often', 'Schedules must be at least {{seconds}} seconds apart.'],
  watch_needs_times: [
    'watch_needs_times',
    'What is watched is looked at on the times of `cron` or `every`.',
  ],
  schedule_project_needed: [
    'project_needed',
    'Checks of files and commands, and watched files, need a project.',
  ],
  check_pattern_invalid: ['validation_failed', '“{{pattern}}” is not a pattern: {{detail}}'],
  check_command_not_permitted: [
    'forbidden',
    'Only a person can make a check that runs a command, and only while commands are on.',
  ],
  hook_unknown: ['not_found', 'There is no such hook.'],
  hook_needed: ['validation_failed', 'This schedule has no hook.'],
  hook_signature_invalid: ['unauthorized', 'The signature is missing, wrong or too old.'],
  hook_busy: ['too_many_requests', 'Too many requests to this hook. Try again later.'],
  run_cost_used_up: ['quota_exceeded', 'This answer has used up its limit for cost ({{limit}}).'],
  hook_method: ['method_not_allowed', 'Send a POST request to this address.'],
} as const
