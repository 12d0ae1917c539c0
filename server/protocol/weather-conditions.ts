// The conditions that the weather tool reports of Open-Meteo. Models read them in English; the page translates them.

/** In the order of the WMO's codes. */
export const WEATHER_CONDITIONS = [
  'clear sky',
  'mainly clear',
  'partly cloudy',
  'overcast',
  'fog',
  'depositing rime fog',
  'light drizzle',
  'drizzle',
  'dense drizzle',
  'light freezing drizzle',
  'freezing drizzle',
  'slight rain',
  'rain',
  'heavy rain',
  'light freezing rain',
  'freezing rain',
  'slight snow',
  'snow',
  'heavy snow',
  'snow grains',
  'slight rain showers',
  'rain showers',
  'violent rain showers',
  'slight snow showers',
  'heavy snow showers',
  'thunderstorm',
  'thunderstorm with slight hail',
  'thunderstorm with heavy hail',
] as const
export type WeatherCondition = (typeof WEATHER_CONDITIONS)[number]
