// Groups, and what they do not allow.

export const ADMINISTRATION_FAILURES = {
  approval_mode_not_permitted: [
    'forbidden',
    'Your group may not use the approval mode "{{mode}}". Choose another: {{available}}.',
  ],
  group_member_not_found: ['not_found', 'This account is not in the group.'],
  group_name_taken: ['name_taken', 'There is already a group with this name.'],
  group_not_found: ['not_found', 'There is no such group.'],
  groups_exhausted: ['conflict', 'There are already {{limit}} groups. Delete one first.'],
  model_not_permitted: [
    'forbidden',
    'Your group may not use the model "{{model}}". Choose another: {{available}}.',
  ],
  no_model_permitted: [
    'forbidden',
    'Your group may not use any model of this server. Ask an administrator.',
  ],
} as const
