// French texts of the page: the settings of channels and webhooks.

export const channelPages = {
  channels: {
    title: 'Canaux',
    text: 'Là où l’agent peut envoyer des messages, une fois chacun approuvé par vous.',
    none: 'Aucun canal pour l’instant',
    kind: 'Type',
    kinds: { webhook: 'Webhook', email: 'E-mail', telegram: 'Telegram' },
    name: 'Nom',
    nameHint: 'Lettres, chiffres, ., _ et -, sans espaces. Commence par une lettre ou un chiffre.',
    hint: {
      secret: 'Au moins 8 caractères. Il sert à signer les requêtes.',
      to: 'Séparez plusieurs adresses par des virgules.',
      bot_token: 'Fourni par @BotFather, par exemple 123456789:AAH…',
      chat_id: 'Un nombre tel que -1001234567890, ou le nom d’un canal tel que @news',
    },
    field: {
      url: 'Adresse',
      secret: 'Secret de signature (facultatif)',
      to: 'Envoyer à',
      bot_token: 'Jeton du bot',
      chat_id: 'ID de discussion',
    },
    add: 'Ajouter un canal',
    added: '{{name}} ajouté.',
    delivery: {
      pending: 'dernier message en route',
      delivered: 'dernier message remis',
      failed: 'échec du dernier message',
    },
    remove: 'Retirer {{name}}',
    removeTitle: 'Retirer ce canal ?',
    removeText:
      'Ses secrets sont supprimés, et l’agent ne peut plus envoyer de messages par ce canal.',
  },
  webhooks: {
    title: 'Webhooks',
    text: 'Informe vos propres programmes des événements de ce serveur. Chaque requête est signée.',
    none: 'Aucun webhook pour l’instant',
    url: 'Adresse',
    events: 'Événements',
    event: {
      'run.ended': 'Une réponse est terminée',
      'approval.required': 'Une approbation est nécessaire',
      'quota.reached': 'Une limite est atteinte',
    },
    add: 'Ajouter un webhook',
    secret: 'Secret de signature. Copiez-le maintenant. Il ne sera plus affiché.',
    replace: 'Remplacer le secret de {{url}}',
    replaceTitle: 'Remplacer le secret',
    replaceText:
      'Les nouveaux événements sont signés avec un nouveau secret, affiché une seule fois.',
    overlap: 'Signer aussi avec l’ancien secret pendant 24 heures',
    overlapHint:
      'Votre programme continue d’accepter les requêtes jusqu’à ce qu’il ait le nouveau secret. Désactivez cette option si quelqu’un d’autre connaît l’ancien.',
    overlapUntil: 'signé aussi avec l’ancien secret jusqu’au {{until}}',
    off: 'Désactivé',
    switchOn: 'Activer {{url}}',
    switchOff: 'Désactiver {{url}}',
    test: 'Envoyer un test',
    testDelivered: 'Le destinataire a accepté le test.',
    delivery: {
      pending: 'dernier événement pas encore remis ; il sera renvoyé',
      delivered: 'dernier événement remis',
      failed: 'échec du dernier événement',
    },
    remove: 'Supprimer {{url}}',
    removeTitle: 'Supprimer ce webhook ?',
    removeText: 'Plus rien n’est envoyé, pas même les événements en attente.',
  },
}
