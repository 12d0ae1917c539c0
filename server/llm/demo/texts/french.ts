// What the demo model says in French.
import type { DemoTexts } from './demo-texts.ts'

export const french: DemoTexts = {
  thinkingBefore: (names) =>
    `Une règle fixe de la démo reconnaît cette demande. L’outil pour cela : ${names}.`,
  thinkingTour: 'La démo connaît la visite par cœur.',
  calling: (names) => `Un instant : ${names}.`,
  thinkingAfter: 'Les outils ont répondu. La démo répète ce qu’ils ont trouvé.',
  result: (name) => `${name} :`,
  signature:
    '*Je suis la démo intégrée, pas un modèle de langage : je ne fais que répéter la réponse des outils.*',
  thinkingPlain: 'Aucune règle fixe de la démo ne correspond à ce message.',
  noTool: (names) =>
    `Je suis la démo intégrée, pas un modèle de langage. Il me faudrait pour cela un outil qui est désactivé ici : ${names}.`,
  introduction: `Je suis la **démo intégrée, pas un modèle de langage**, et je ne réponds qu’à quelques questions préparées, avec de vrais outils. Demandez **une visite guidée**, ou l’une de ces questions :

- Quelle heure est-il à Paris ?
- 12 * (3 + 4)
- Liste les fichiers (dans une conversation avec un projet)

Pour tout le reste, ajoutez un vrai modèle : n’importe quelle API compatible avec OpenAI, ou un Ollama local.`,
  tour: {
    start: `Ceci est la **démo intégrée, pas un modèle de langage** : la suite est préparée, mais tout y est réel.

Les réponses peuvent contenir des tableaux`,
    head: ['Étape', 'Qui la fait', 'Ce que vous voyez'],
    rows: [
      ['Réfléchir', 'le modèle', 'ses réflexions, repliées'],
      ['Agir', 'un outil', 'ce qui est entré et sorti'],
      ['Modifier', 'un outil, si vous l’autorisez', 'la différence, et l’annulation'],
    ],
    diagrams: 'et des diagrammes :',
    flow: {
      question: 'Votre question',
      model: 'Modèle',
      needs: 'a besoin de quelque chose',
      tool: 'Outil',
      risky: 'risqué',
      you: 'Vous autorisez ou refusez',
      answer: 'Réponse',
    },
    program: 'Maintenant un petit programme Python, dans le bac à sable de ce serveur :',
    plot: 'Température d’une journée en °C',
    plotted: 'Le programme a dessiné le graphique : ouvrez l’étape pour voir son code.',
    programFailed: 'Le programme n’a pas pu s’exécuter ici. Une réponse le dit, et continue.',
    change:
      'Ensuite, une modification dans votre projet. Vous la voyez avant qu’elle ait lieu : autorisez-la ou refusez-la, les deux conviennent.',
    changed:
      'Le fichier est maintenant dans le projet. Dans l’**historique** du projet, vous voyez la modification et pouvez l’annuler.',
    rejected: 'Vous l’avez refusée, donc rien n’a changé.',
    withoutProject:
      'Dans une conversation avec un projet, je proposerais aussi de modifier un fichier : vous le verriez avant et pourriez l’annuler.',
    end: 'La visite est terminée. À un vrai modèle, vous demandez ce qu’il vous faut avec vos propres mots.',
    file: '# Un fichier de la visite\n\nVous avez autorisé cette modification. Annulez-la dans l’historique du projet.\n',
  },
}
