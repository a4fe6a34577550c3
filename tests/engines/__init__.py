"""Real Prometheus-compatible engines on loopback, and an application whose traffic a test sets.

Programs are found or fetched once (`programs`), run in folders of their own (`engine`), and scrape
the played pods' metrics (`application`, `traffic`). A `front` stands between gate and engine.
"""
