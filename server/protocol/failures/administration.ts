// Groups and quotas, and what they do not allow.

export const ADMINISTRATION_FAILURES = {
  approval_mode_not_permitted: [
    'forbidden',
    'Your group may not use the approval mode "{{mode}}". Choose another: {{available}}.',
  ],
  cost_per_day_used_up: [
    'budget_exceeded',
    'Your budget of {{limit}} for today is used up. It is renewed at {{renews_at}}.',
  ],
  cost_per_month_used_up: [
    'budget_exceeded',
    'Your budget of {{limit}} for this month is used up. It is renewed at {{renews_at}}.',
  ],
  group_cost_used_up: [
    'budget_exceeded',
    'The budget of {{limit}} that your group "{{group}}" shares is used up. It is renewed at {{renews_at}}.',
  ],
  group_member_not_found: ['not_found', 'This account is not in the group.'],
  group_name_taken: ['name_taken', 'There is already a group with this name.'],
  group_not_found: ['not_found', 'There is no such group.'],
  group_tokens_used_up: [
    'budget_exceeded',
    'The {{limit}} tokens that your group "{{group}}" shares are used up. They are renewed at {{renews_at}}.',
  ],
  groups_exhausted: ['conflict', 'There are already {{limit}} groups. Delete one first.'],
  messages_per_day_used_up: [
    'budget_exceeded',
    'Your {{limit}} messages for today are used up. They are renewed at {{renews_at}}.',
  ],
  model_not_permitted: [
    'forbidden',
    'Your group may not use the model "{{model}}". Choose another: {{available}}.',
  ],
  no_model_permitted: [
    'forbidden',
    'Your group may not use any model of this server. Ask an administrator.',
  ],
  own_account_stays: ['conflict', 'You cannot delete your own account. Ask another administrator.'],
  program_seconds_used_up: [
    'budget_exceeded',
    'Your {{limit}} seconds for programs are used up for today. They are renewed at {{renews_at}}.',
  ],
  requests_exhausted: [
    'too_many_requests',
    'You may send {{limit}} requests per minute. Try again in {{seconds}} seconds.',
  ],
  tokens_per_day_used_up: [
    'budget_exceeded',
    'Your {{limit}} tokens for today are used up. They are renewed at {{renews_at}}.',
  ],
  tokens_per_month_used_up: [
    'budget_exceeded',
    'Your {{limit}} tokens for this month are used up. They are renewed at {{renews_at}}.',
  ],
} as const
