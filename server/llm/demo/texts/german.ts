// What the demo model says in German.
import type { DemoTexts } from './demo-texts.ts'

export const german: DemoTexts = {
  thinkingBefore: (names) =>
    `Eine feste Regel der Demo erkennt diese Bitte. Das Tool dafür: ${names}.`,
  thinkingTour: 'Die Demo kennt den Rundgang auswendig.',
  calling: (names) => `Einen Moment: ${names}.`,
  thinkingAfter: 'Die Tools haben geantwortet. Die Demo gibt wieder, was sie gefunden haben.',
  result: (name) => `${name}:`,
  signature:
    '*Ich bin die eingebaute Demo, kein Sprachmodell: Ich wiederhole nur, was die Tools geantwortet haben.*',
  thinkingPlain: 'Keine feste Regel der Demo passt zu dieser Nachricht.',
  noTool: (names) =>
    `Ich bin die eingebaute Demo, kein Sprachmodell. Dafür bräuchte ich ein Tool, das hier abgeschaltet ist: ${names}.`,
  introduction: `Ich bin die **eingebaute Demo, kein Sprachmodell**, und beantworte nur wenige vorbereitete Fragen, mit echten Tools. Bitte um **einen Rundgang** oder frag eines davon:

- Wie spät ist es in Berlin?
- 12 * (3 + 4)
- Liste die Dateien auf (in einer Unterhaltung mit einem Projekt)

Für alles andere füge ein echtes Modell hinzu: eine beliebige OpenAI-kompatible API oder ein lokales Ollama.`,
  tour: {
    start: `Das ist die **eingebaute Demo, kein Sprachmodell**: Was folgt, ist vorbereitet, aber alles darin ist echt.

Antworten können Tabellen enthalten`,
    head: ['Schritt', 'Wer ihn macht', 'Was du siehst'],
    rows: [
      ['Denken', 'das Modell', 'seine Gedanken, eingeklappt'],
      ['Handeln', 'ein Tool', 'was hineinging und herauskam'],
      ['Ändern', 'ein Tool, wenn du es erlaubst', 'den Unterschied und „Rückgängig“'],
    ],
    diagrams: 'und Diagramme:',
    flow: {
      question: 'Deine Frage',
      model: 'Modell',
      needs: 'braucht etwas',
      tool: 'Tool',
      risky: 'riskant',
      you: 'Du erlaubst oder lehnst ab',
      answer: 'Antwort',
    },
    program: 'Jetzt ein kleines Python-Programm, in der Sandbox dieses Servers:',
    plot: 'Temperatur eines Tages in °C',
    plotted: 'Das Programm hat das Diagramm gezeichnet: Öffne den Schritt, um den Code zu sehen.',
    programFailed: 'Das Programm lief hier nicht. Eine Antwort sagt das und macht weiter.',
    change:
      'Als Nächstes eine Änderung in deinem Projekt. Du siehst sie, bevor sie geschieht: Erlaube sie oder lehne sie ab, beides ist in Ordnung.',
    changed:
      'Die Datei liegt jetzt im Projekt. Im **Verlauf** des Projekts siehst du die Änderung und kannst sie rückgängig machen.',
    rejected: 'Du hast sie abgelehnt, also ist nichts geändert.',
    withoutProject:
      'In einer Unterhaltung mit einem Projekt würde ich auch eine Änderung an einer Datei vorschlagen, die du vorher siehst und rückgängig machen kannst.',
    end: 'Das war der Rundgang. Ein echtes Modell fragst du mit deinen eigenen Worten.',
    file: '# Eine Datei des Rundgangs\n\nDu hast diese Änderung erlaubt. Im Verlauf des Projekts machst du sie rückgängig.\n',
  },
}
