// What the demo model says in Portuguese.
import type { DemoTexts } from './demo-texts.ts'

export const portuguese: DemoTexts = {
  thinkingBefore: (names) =>
    `Uma regra fixa da demo reconhece este pedido. A ferramenta para ele: ${names}.`,
  thinkingTour: 'A demo sabe o tour de cor.',
  calling: (names) => `Um momento: ${names}.`,
  thinkingAfter: 'As ferramentas responderam. A demo repete o que elas encontraram.',
  result: (name) => `${name}:`,
  signature:
    '*Sou a demo integrada, não um modelo de linguagem: só repito o que as ferramentas responderam.*',
  thinkingPlain: 'Nenhuma regra fixa da demo se encaixa nesta mensagem.',
  noTool: (names) =>
    `Sou a demo integrada, não um modelo de linguagem. Para isso eu precisaria de uma ferramenta que está desativada aqui: ${names}.`,
  introduction: `Sou a **demo integrada, não um modelo de linguagem**, e só respondo a algumas perguntas preparadas, com ferramentas de verdade. Peça **um tour** ou uma destas coisas:

- Que horas são em São Paulo?
- 12 * (3 + 4)
- Liste os arquivos (em uma conversa com um projeto)

Para todo o resto, adicione um modelo de verdade: qualquer API compatível com a OpenAI ou um Ollama local.`,
  tour: {
    start: `Esta é a **demo integrada, não um modelo de linguagem**: o que vem a seguir está preparado, mas tudo é real.

As respostas podem ter tabelas`,
    head: ['Passo', 'Quem faz', 'O que você vê'],
    rows: [
      ['Pensar', 'o modelo', 'os pensamentos dele, recolhidos'],
      ['Agir', 'uma ferramenta', 'o que entrou e o que saiu'],
      ['Mudar', 'uma ferramenta, se você permitir', 'a diferença, e desfazer'],
    ],
    diagrams: 'e diagramas:',
    flow: {
      question: 'Sua pergunta',
      model: 'Modelo',
      needs: 'precisa de algo',
      tool: 'Ferramenta',
      risky: 'arriscado',
      you: 'Você permite ou recusa',
      answer: 'Resposta',
    },
    program: 'Agora um pequeno programa em Python, no ambiente isolado deste servidor:',
    plot: 'Temperatura de um dia em °C',
    plotted: 'O programa desenhou o gráfico: abra o passo para ver o código.',
    programFailed: 'O programa não rodou aqui. Uma resposta diz isso e continua.',
    change:
      'A seguir, uma mudança no seu projeto. Você a vê antes de acontecer: permita ou recuse, tanto faz.',
    changed:
      'O arquivo está no projeto agora. No **histórico** do projeto você vê a mudança e pode desfazê-la.',
    rejected: 'Você recusou, então nada mudou.',
    withoutProject:
      'Em uma conversa com um projeto, eu também proporia mudar um arquivo: você veria antes e poderia desfazer.',
    end: 'Esse foi o tour. A um modelo de verdade você pede o que precisa com suas próprias palavras.',
    file: '# Um arquivo do tour\n\nVocê permitiu esta mudança. Desfaça no histórico do projeto.\n',
  },
}
