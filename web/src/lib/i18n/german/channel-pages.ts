// German texts of the page: the settings of channels and webhooks.

export const channelPages = {
  channels: {
    title: 'Kanäle',
    text: 'Wohin der Agent Nachrichten senden kann, wenn du jede einzelne freigibst.',
    none: 'Noch keine Kanäle',
    kind: 'Art',
    kinds: { webhook: 'Webhook', email: 'E-Mail', telegram: 'Telegram' },
    name: 'Name',
    nameHint:
      'Buchstaben, Ziffern, ., _ und -, ohne Leerzeichen. Beginnt mit einem Buchstaben oder einer Ziffer.',
    hint: {
      secret: 'Mindestens 8 Zeichen. Damit werden Anfragen signiert.',
      to: 'Mehrere Adressen durch Kommas trennen.',
      bot_token: 'Von @BotFather, zum Beispiel 123456789:AAH…',
      chat_id: 'Eine Zahl wie -1001234567890 oder der Name eines Kanals wie @news',
    },
    field: {
      url: 'Adresse',
      secret: 'Geheimnis zum Signieren (optional)',
      to: 'Senden an',
      bot_token: 'Bot-Token',
      chat_id: 'Chat-ID',
    },
    add: 'Kanal hinzufügen',
    added: '{{name}} hinzugefügt.',
    delivery: {
      pending: 'letzte Nachricht unterwegs',
      delivered: 'letzte Nachricht zugestellt',
      failed: 'letzte Nachricht fehlgeschlagen',
    },
    remove: '{{name}} entfernen',
    removeTitle: 'Diesen Kanal entfernen?',
    removeText:
      'Seine Geheimnisse werden gelöscht, und der Agent kann darüber keine Nachrichten mehr senden.',
  },
  webhooks: {
    title: 'Webhooks',
    text: 'Benachrichtigt deine eigenen Programme über Ereignisse auf diesem Server. Jede Anfrage ist signiert.',
    none: 'Noch keine Webhooks',
    url: 'Adresse',
    events: 'Ereignisse',
    event: {
      'run.ended': 'Eine Antwort ist fertig',
      'approval.required': 'Eine Freigabe ist nötig',
      'quota.reached': 'Ein Limit ist erreicht',
    },
    add: 'Webhook hinzufügen',
    secret: 'Geheimnis zum Signieren. Kopiere es jetzt. Es wird nicht noch einmal angezeigt.',
    replace: 'Geheimnis von {{url}} ersetzen',
    replaceTitle: 'Geheimnis ersetzen',
    replaceText:
      'Neue Ereignisse werden mit einem neuen Geheimnis signiert, das nur einmal angezeigt wird.',
    overlap: '24 Stunden lang auch mit dem alten Geheimnis signieren',
    overlapHint:
      'Dein Programm nimmt Anfragen weiterhin an, bis es das neue Geheimnis hat. Schalte das aus, wenn jemand anderes das alte kennt.',
    overlapUntil: 'bis {{until}} auch mit dem alten Geheimnis signiert',
    off: 'Aus',
    switchOn: '{{url}} einschalten',
    switchOff: '{{url}} ausschalten',
    test: 'Test senden',
    testDelivered: 'Der Empfänger hat den Test angenommen.',
    delivery: {
      pending: 'letztes Ereignis noch nicht zugestellt; es wird erneut gesendet',
      delivered: 'letztes Ereignis zugestellt',
      failed: 'letztes Ereignis fehlgeschlagen',
    },
    remove: '{{url}} löschen',
    removeTitle: 'Diesen Webhook löschen?',
    removeText: 'Es wird nichts mehr gesendet, auch keine Ereignisse, die noch warten.',
  },
}
