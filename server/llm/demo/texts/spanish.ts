// What the demo model says in Spanish.
import type { DemoTexts } from './demo-texts.ts'

export const spanish: DemoTexts = {
  thinkingBefore: (names) =>
    `Una regla fija de la demo reconoce esta petición. La herramienta para ella: ${names}.`,
  thinkingTour: 'La demo se sabe el recorrido de memoria.',
  calling: (names) => `Un momento: ${names}.`,
  thinkingAfter: 'Las herramientas han respondido. La demo repite lo que encontraron.',
  result: (name) => `${name}:`,
  signature:
    '*Soy la demo integrada, no un modelo de lenguaje: solo repito lo que respondieron las herramientas.*',
  thinkingPlain: 'Ninguna regla fija de la demo encaja con este mensaje.',
  noTool: (names) =>
    `Soy la demo integrada, no un modelo de lenguaje. Para esto necesitaría una herramienta que aquí está desactivada: ${names}.`,
  introduction: `Soy la **demo integrada, no un modelo de lenguaje**, y solo respondo a unas pocas preguntas preparadas, con herramientas reales. Pide **un recorrido** o una de estas cosas:

- ¿Qué hora es en Madrid?
- 12 * (3 + 4)
- Lista los archivos (en una conversación con un proyecto)

Para todo lo demás, añade un modelo real: cualquier API compatible con OpenAI o un Ollama local.`,
  tour: {
    start: `Esta es la **demo integrada, no un modelo de lenguaje**: lo que sigue está preparado, pero todo es real.

Las respuestas pueden tener tablas`,
    head: ['Paso', 'Quién lo hace', 'Qué ves'],
    rows: [
      ['Pensar', 'el modelo', 'sus pensamientos, plegados'],
      ['Actuar', 'una herramienta', 'lo que entró y lo que salió'],
      ['Cambiar', 'una herramienta, si lo permites', 'la diferencia, y deshacer'],
    ],
    diagrams: 'y diagramas:',
    flow: {
      question: 'Tu pregunta',
      model: 'Modelo',
      needs: 'necesita algo',
      tool: 'Herramienta',
      risky: 'arriesgado',
      you: 'Tú permites o rechazas',
      answer: 'Respuesta',
    },
    program: 'Ahora un pequeño programa de Python, en el entorno aislado de este servidor:',
    plot: 'Temperatura de un día en °C',
    plotted: 'El programa ha dibujado el gráfico: abre el paso para ver su código.',
    programFailed: 'El programa no se pudo ejecutar aquí. Una respuesta lo dice y continúa.',
    change:
      'Ahora, un cambio en tu proyecto. Lo ves antes de que ocurra: permítelo o recházalo, las dos cosas están bien.',
    changed:
      'El archivo ya está en el proyecto. En el **historial** del proyecto ves el cambio y puedes deshacerlo.',
    rejected: 'Lo has rechazado, así que nada ha cambiado.',
    withoutProject:
      'En una conversación con un proyecto también propondría cambiar un archivo: lo verías antes y podrías deshacerlo.',
    end: 'Ese fue el recorrido. A un modelo real le pides lo que necesitas con tus propias palabras.',
    file: '# Un archivo del recorrido\n\nPermitiste este cambio. Deshazlo en el historial del proyecto.\n',
  },
}
