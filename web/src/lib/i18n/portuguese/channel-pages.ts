// Portuguese texts of the page: the settings of channels and webhooks.

export const channelPages = {
  channels: {
    title: 'Canais',
    text: 'Para onde o agente pode enviar mensagens, depois que você aprova cada uma.',
    none: 'Nenhum canal ainda',
    kind: 'Tipo',
    kinds: { webhook: 'Webhook', email: 'E-mail', telegram: 'Telegram' },
    name: 'Nome',
    field: {
      url: 'Endereço',
      secret: 'Segredo de assinatura (opcional)',
      to: 'Enviar para',
      bot_token: 'Token do bot',
      chat_id: 'ID do chat',
    },
    add: 'Adicionar canal',
    added: '{{name}} adicionado.',
    delivery: {
      pending: 'última mensagem a caminho',
      delivered: 'última mensagem entregue',
      failed: 'última mensagem falhou',
    },
    remove: 'Remover {{name}}',
    removeTitle: 'Remover este canal?',
    removeText:
      'Os segredos dele são excluídos, e o agente não poderá mais enviar mensagens por ele.',
  },
  webhooks: {
    title: 'Webhooks',
    text: 'Avisa seus próprios programas sobre os eventos deste servidor. Cada solicitação é assinada.',
    none: 'Nenhum webhook ainda',
    url: 'Endereço',
    events: 'Eventos',
    event: {
      'run.ended': 'Uma resposta terminou',
      'approval.required': 'Uma aprovação é necessária',
      'quota.reached': 'Um limite foi atingido',
    },
    add: 'Adicionar webhook',
    secret: 'Segredo de assinatura. Copie-o agora. Ele não será exibido novamente.',
    replace: 'Substituir o segredo de {{url}}',
    replaceTitle: 'Substituir o segredo',
    replaceText: 'Os novos eventos são assinados com um segredo novo, mostrado uma única vez.',
    overlap: 'Continuar assinando com o segredo antigo por 24 horas',
    overlapHint:
      'Seu programa continua aceitando as solicitações até ter o novo segredo. Desative se mais alguém conhecer o antigo.',
    overlapUntil: 'assinado também com o segredo antigo até {{until}}',
    off: 'Desativado',
    switchOn: 'Ativar {{url}}',
    switchOff: 'Desativar {{url}}',
    test: 'Enviar um teste',
    testDelivered: 'O destinatário aceitou o teste.',
    delivery: {
      pending: 'último evento ainda não entregue; será reenviado',
      delivered: 'último evento entregue',
      failed: 'último evento falhou',
    },
    remove: 'Excluir {{url}}',
    removeTitle: 'Excluir este webhook?',
    removeText: 'Nada mais será enviado, nem os eventos que ainda aguardam.',
  },
}
