// Groups and quotas, and what they do not allow.

export const ADMINISTRATION_FAILURES = {
  approval_mode_not_permitted: [
    'forbidden',
    'Your group is not allowed to use the approval mode “{{mode}}”. Choose another: {{available}}.',
  ],
  cost_per_day_used_up: [
    'budget_exceeded',
    'You have used up today’s budget of {{limit}}. It resets at {{renews_at}}.',
  ],
  cost_per_month_used_up: [
    'budget_exceeded',
    'You have used up this month’s budget of {{limit}}. It resets at {{renews_at}}.',
  ],
  group_cost_used_up: [
    'budget_exceeded',
    'Your group “{{group}}” has used up its shared budget of {{limit}}. It resets at {{renews_at}}.',
  ],
  group_member_not_found: ['not_found', 'This account is not a member of the group.'],
  group_name_taken: ['name_taken', 'A group with this name already exists.'],
  group_not_found: ['not_found', 'Group not found.'],
  group_tokens_used_up: [
    'budget_exceeded',
    'Your group “{{group}}” has used up its shared limit of {{limit}} tokens. It resets at {{renews_at}}.',
  ],
  groups_exhausted: ['conflict', 'There are already {{limit}} groups. Delete one first.'],
  messages_per_day_used_up: [
    'budget_exceeded',
    'You have used up today’s limit of channel messages ({{limit}}). It resets at {{renews_at}}.',
  ],
  model_not_permitted: [
    'forbidden',
    'Your group is not allowed to use the model “{{model}}”. Choose another: {{available}}.',
  ],
  no_model_permitted: [
    'forbidden',
    'Your group is not allowed to use any model on this server. Ask an administrator.',
  ],
  own_account_stays: ['conflict', 'You cannot delete your own account. Ask another administrator.'],
  program_seconds_used_up: [
    'budget_exceeded',
    'You have used up today’s limit of {{limit}} seconds for running programs. It resets at {{renews_at}}.',
  ],
  requests_exhausted: [
    'too_many_requests',
    'You have reached the limit of requests per minute ({{limit}}). Try again in {{seconds}} s.',
  ],
  tokens_per_day_used_up: [
    'budget_exceeded',
    'You have used up today’s limit of {{limit}} tokens. It resets at {{renews_at}}.',
  ],
  tokens_per_month_used_up: [
    'budget_exceeded',
    'You have used up this month’s limit of {{limit}} tokens. It resets at {{renews_at}}.',
  ],
} as const
